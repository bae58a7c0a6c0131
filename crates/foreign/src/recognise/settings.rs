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

/// Fixed settings that the authors' presets change: a file that says nothing may be of either value.
const PRESET: [&str; 1] = ["slice_scale"];

/// The option that the settings tell of.
pub const HEADS: &str = "heads";

/// What the settings say of an option that shapes may leave open.
#[derive(Debug, PartialEq)]
pub struct Told {
    /// The setting.
    pub setting: &'static str,
    /// The option of ours.
    pub option: &'static str,
    /// All that is said of it, each value once: several contradict each other.
    pub values: Vec<String>,
}

/// Why the settings say that this family is not meant; `None` if they do not.
pub fn denial(family: &str, contents: &Contents) -> Option<String> {
    let fixed = fixed(family).find_map(|(name, ours)| {
        let said = said(contents, name);
        let others: Vec<&str> = said.iter().copied().filter(|theirs| Said::from(*theirs) != Said::from(ours)).collect();
        match others.len() {
            0 => None,
            all if all == said.len() => Some(other_model(family, name, &others.join(" and "), ours)),
            _ => Some(format!("says `{name}` = {}, which contradict each other", said.join(" and "))),
        }
    });
    let negative = match family {
        "gated_deltanet" => Some("true"),
        "gated_deltanet_pos" => Some("false"),
        _ => None,
    };
    let eigenvalues = || {
        EIGENVALUES.iter().find_map(|name| {
            let ours = negative?;
            // Said both ways it says nothing, and whoever reads the file is asked.
            let &[theirs] = said(contents, name).as_slice() else { return None };
            (Said::from(theirs) != Said::from(ours)).then(|| other_model(family, name, theirs, ours))
        })
    };
    fixed.or_else(eigenvalues)
}

/// Settings that nobody tells although files without them may be of another value, with the family's own.
pub fn unsaid(family: &str, contents: &Contents) -> Vec<(&'static str, String)> {
    let doubtful = fixed(family).filter(|(name, _)| PRESET.contains(name) && said(contents, name).is_empty());
    doubtful.map(|(name, ours)| (name, ours.to_owned())).collect()
}

/// What the settings tell of the number of heads, if the family has such an option.
pub fn heads(family: &Family, contents: &Contents) -> Option<Told> {
    let option = family.options.iter().find(|option| option.name == HEADS)?;
    let values = said(contents, "n_heads").into_iter().map(|value| match Said::from(value) {
        Said::Number(number) => number.to_string(),
        _ => value.trim().to_owned(),
    });
    let values: Vec<String> = values.collect();
    (!values.is_empty()).then_some(Told { setting: "n_heads", option: option.name, values })
}

/// The dropout that it was trained with.
pub fn dropout(contents: &Contents) -> f64 {
    let told = match said(contents, "dropout").as_slice() {
        [told] => told.trim().parse().ok(),
        _ => None,
    };
    told.filter(|dropout| (0.0..1.0).contains(dropout)).unwrap_or(USUAL_DROPOUT)
}

/// The settings that the family has fixed, with their values.
fn fixed(family: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    FIXED.iter().filter(move |(start, ..)| family.starts_with(start)).map(|(_, name, value)| (*name, *value))
}

fn other_model(family: &str, name: &str, theirs: &str, ours: &str) -> String {
    format!("says `{name}` = {theirs}, where {family} of this program has {ours}: it is another model")
}

/// All that is said under this name, each thing once, in however many spellings. Nothing said is nothing denied.
fn said<'c>(contents: &'c Contents, name: &str) -> Vec<&'c str> {
    let mut distinct: Vec<&str> = Vec::new();
    for text in contents.settings.get(name).into_iter().flatten() {
        let said = Said::from(text.as_str());
        if said != Said::Nothing && distinct.iter().all(|known| Said::from(*known) != said) {
            distinct.push(text);
        }
    }
    distinct
}
