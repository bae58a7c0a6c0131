//! What the settings beside a model say of it: those of the authors' programs.

use cwm_models::families::Family;

use crate::walk::Contents;

/// Dropout, where no setting tells it: the paper's. It plays no part in what a trained model says.
const USUAL_DROPOUT: f64 = 0.1;

/// What a setting says, however it is written: Python writes `True` and `1e-06`, others `true` and `0.000001`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Said<'t> {
    Nothing,
    Truth(bool),
    Number(f64),
    Text(&'t str),
}

impl<'t> From<&'t str> for Said<'t> {
    fn from(text: &'t str) -> Self {
        match text.trim() {
            "" | "None" | "null" => Said::Nothing,
            "True" | "true" => Said::Truth(true),
            "False" | "false" => Said::Truth(false),
            other => other.parse().map_or(Said::Text(other), Said::Number),
        }
    }
}

/// Settings that the families of ours have fixed, by the beginning of the family's name: what a file says otherwise is
/// another model, although its parameters may have the same names and shapes.
const FIXED: &[(&str, &str, &str)] = &[
    ("gated_deltanet", "gated_deltanet_expand_v", "2"),
    ("gated_deltanet", "gated_deltanet_use_gate", "true"),
    ("gated_deltanet", "gated_deltanet_use_short_conv", "true"),
    ("gated_deltanet", "gated_deltanet_conv_size", "4"),
    ("gated_deltanet", "gated_deltanet_norm_eps", "0.000001"),
    ("slice", "slice_scale", "0.1"),
    ("slice", "slice_path_mode", "values"),
    ("slice", "slice_input_dependent_init", "false"),
    ("slice", "slice_diagonal_dense", "false"),
    ("slice", "slice_norm_type", "rmsnorm"),
    ("slice", "slice_norm_eps", "0.000001"),
    ("slice", "slice_ff_style", "mlp"),
    ("slice", "slice_ff_activation", "gelu"),
    ("slice", "slice_final_norm", "false"),
    ("mamba", "mamba_ngroups", "1"),
    ("mamba", "mamba_rms_norm", "true"),
    ("mamba", "mamba_norm_eps", "0.00001"),
    ("mamba3", "mamba3_rope_fraction", "0.5"),
    ("mamba3", "mamba3_is_outproj_norm", "false"),
];

/// The setting that tells the two Gated DeltaNets apart.
const EIGENVALUES: [&str; 2] = ["gated_deltanet_allow_neg_eigval", "allow_neg_eigval"];

/// Why the settings say that this family is not meant; `None` if they do not.
pub fn denial(family: &str, contents: &Contents) -> Option<String> {
    let fixed = FIXED.iter().filter(|(start, ..)| family.starts_with(start)).map(|(_, name, value)| (*name, *value));
    let negative = match family {
        "gated_deltanet" => Some("true"),
        "gated_deltanet_pos" => Some("false"),
        _ => None,
    };
    let eigenvalues = EIGENVALUES.iter().filter_map(|name| Some((*name, negative?)));
    fixed.chain(eigenvalues).find_map(|(name, ours)| {
        let theirs = only(contents, name)?;
        // Nothing said is nothing denied.
        let said = Said::from(theirs);
        (said != Said::Nothing && said != Said::from(ours)).then(|| {
            format!("says `{name}` = {theirs}, where {family} of this program has {ours}: it is another model")
        })
    })
}

/// Options of the family that the settings tell.
pub fn options(family: &Family, contents: &Contents) -> Vec<(&'static str, String)> {
    let heads = family.options.iter().find(|option| option.name == "heads");
    let told = only(contents, "n_heads").and_then(|heads| heads.trim().parse::<u32>().ok()).filter(|heads| *heads > 0);
    heads.and_then(|option| Some((option.name, told?.to_string()))).into_iter().collect()
}

/// The dropout that it was trained with.
pub fn dropout(contents: &Contents) -> f64 {
    let told = only(contents, "dropout").and_then(|dropout| dropout.trim().parse().ok());
    told.filter(|dropout| (0.0..1.0).contains(dropout)).unwrap_or(USUAL_DROPOUT)
}

/// What is said under this name, if it is one thing, in however many spellings.
fn only<'c>(contents: &'c Contents, name: &str) -> Option<&'c str> {
    let said = contents.settings.get(name)?;
    let first = said.first()?;
    said.iter().skip(1).all(|other| Said::from(other.as_str()) == Said::from(first.as_str())).then_some(first)
}
