//! Settings beside a model, as the authors' programs save them.

use cwm_models::families::Family;

use crate::tensor_groups::FileContents;

/// Dropout, where no setting has it: the paper's. It plays no part in what a trained model computes.
const USUAL_DROPOUT: f64 = 0.1;

/// The value of a setting, however it is written: Python writes `True` and `1e-06`, others `true` and `0.000001`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SettingValue<'t> {
    Null,
    Bool(bool),
    Number(f64),
    Text(&'t str),
}

impl<'t> From<&'t str> for SettingValue<'t> {
    fn from(text: &'t str) -> Self {
        match text.trim() {
            "" | "None" | "null" => SettingValue::Null,
            "True" | "true" => SettingValue::Bool(true),
            "False" | "false" => SettingValue::Bool(false),
            other => other.parse().map_or(SettingValue::Text(other), SettingValue::Number),
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

/// The setting that distinguishes the two Gated DeltaNets.
const EIGENVALUES: [&str; 2] = ["gated_deltanet_allow_neg_eigval", "allow_neg_eigval"];

/// Fixed settings that the authors' presets change: a file that says nothing may be of either value.
const PRESET: [&str; 1] = ["slice_scale"];

/// The settings that have the number of heads: the authors', and that of nanoGPT and GPT-2.
const HEADS_SETTINGS: [&str; 2] = ["n_heads", "n_head"];

/// The option that the settings name.
pub const HEADS: &str = "heads";

/// The values that the settings give to an option that shapes may leave open.
#[derive(Debug, PartialEq)]
pub struct HeadsSetting {
    /// The setting.
    pub setting: &'static str,
    /// The option of ours.
    pub option: &'static str,
    /// The values that the file has for it, each once: several contradict each other.
    pub values: Vec<String>,
}

/// Returns the reason if a setting contradicts this family.
pub fn contradicting_setting(family: &str, contents: &FileContents) -> Option<String> {
    let fixed = fixed(family).find_map(|(name, ours)| {
        let values = values_of(contents, name);
        let others: Vec<&str> =
            values.iter().copied().filter(|theirs| SettingValue::from(*theirs) != SettingValue::from(ours)).collect();
        match others.len() {
            0 => None,
            all if all == values.len() => Some(other_model(family, name, &others.join(" and "), ours)),
            _ => Some(format!("declares `{name}` = {}, which contradict each other", values.join(" and "))),
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
            // Set both ways it determines nothing, and the user has to choose.
            let &[theirs] = values_of(contents, name).as_slice() else { return None };
            (SettingValue::from(theirs) != SettingValue::from(ours)).then(|| other_model(family, name, theirs, ours))
        })
    };
    fixed.or_else(eigenvalues)
}

/// Settings that are left out although files without them may be of another value, with the family's own.
pub fn unstated_settings(family: &str, contents: &FileContents) -> Vec<(&'static str, String)> {
    let doubtful = fixed(family).filter(|(name, _)| PRESET.contains(name) && values_of(contents, name).is_empty());
    doubtful.map(|(name, ours)| (name, ours.to_owned())).collect()
}

/// Returns the number of heads in the settings, if the family has such an option.
pub fn heads(family: &Family, contents: &FileContents) -> Option<HeadsSetting> {
    let option = family.options.iter().find(|option| option.name == HEADS)?;
    let setting = HEADS_SETTINGS.into_iter().find(|name| !values_of(contents, name).is_empty())?;
    let values = values_of(contents, setting).into_iter().map(|value| match SettingValue::from(value) {
        SettingValue::Number(number) => number.to_string(),
        _ => value.trim().to_owned(),
    });
    Some(HeadsSetting { setting, option: option.name, values: values.collect() })
}

/// The dropout that it was trained with.
pub fn dropout(contents: &FileContents) -> f64 {
    let dropout = match values_of(contents, "dropout").as_slice() {
        [text] => text.trim().parse().ok(),
        _ => None,
    };
    dropout.filter(|dropout| (0.0..1.0).contains(dropout)).unwrap_or(USUAL_DROPOUT)
}

/// The settings that the family has fixed, with their values.
fn fixed(family: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    FIXED.iter().filter(move |(start, ..)| family.starts_with(start)).map(|(_, name, value)| (*name, *value))
}

fn other_model(family: &str, name: &str, theirs: &str, ours: &str) -> String {
    format!("declares `{name}` = {theirs}, where {family} of this program has {ours}: it is another model")
}

/// Returns the values under this name, each once, in however many spellings. Null is no value.
fn values_of<'c>(contents: &'c FileContents, name: &str) -> Vec<&'c str> {
    let mut distinct: Vec<&str> = Vec::new();
    for text in contents.settings.get(name).into_iter().flatten() {
        let value = SettingValue::from(text.as_str());
        if value != SettingValue::Null && distinct.iter().all(|known| SettingValue::from(*known) != value) {
            distinct.push(text);
        }
    }
    distinct
}
