//! The authors' configuration of a fixture's model, as its manifest has it, beside the model of its parameters.
//!
//! Most of it changes no name and no shape. A key that says otherwise than our model is of another one, whose numbers
//! may be the same by chance or by mistake; an unknown one could mean anything.

use cwm_foreign::{FileContents, contradicting_setting};
use cwm_models::Architecture;
use serde_json::{Map, Value};

/// Prefixes of the keys of one family; those that were `resolved` have none.
const PREFIXES: [&str; 4] = ["gated_deltanet_", "mamba_", "mamba3_", "slice_"];
/// Keys of all families.
const COMMON: [&str; 7] = ["arch", "d_model", "dropout", "ff_mult", "n_heads", "n_layers", "resolved"];
/// Keys of families, without what they begin with: those that say which model it is, and those that say how it is
/// computed or begins, which changes nothing that is compared.
const OF_FAMILIES: [&str; 38] = [
    "allow_neg_eigval",
    "attn_mode",
    "block_size",
    "chunk_size",
    "conv_size",
    "d_conv",
    "d_intermediate",
    "d_state",
    "diagonal_dense",
    "dropout_position",
    "expand",
    "expand_v",
    "ff_activation",
    "ff_mult",
    "ff_style",
    "final_norm",
    "fused_add_norm",
    "head_dim",
    "headdim",
    "init_std",
    "input_dependent_init",
    "is_mimo",
    "is_outproj_norm",
    "mimo_rank",
    "ngroups",
    "norm_eps",
    "norm_type",
    "path_mode",
    "residual_in_fp32",
    "rms_norm",
    "rope_fraction",
    "scale",
    "use_fast_path",
    "use_gate",
    "use_mem_eff_path",
    "use_parallel",
    "use_short_conv",
    "variant",
];

/// Returns true if a key of the configuration is one of the authors'.
pub fn is_known(key: &str) -> bool {
    COMMON.contains(&key) || PREFIXES.iter().any(|prefix| key.strip_prefix(prefix).is_some_and(is_known_resolved))
}

/// Returns true if a key of `resolved` is one of the authors'.
pub fn is_known_resolved(key: &str) -> bool {
    OF_FAMILIES.contains(&key)
}

/// Returns the first contradiction between the configuration and `architecture`, in words that follow the manifest;
/// `None` if all of it is true of the model.
pub fn contradiction(architecture: &Architecture, config: &Map<String, Value>) -> Option<String> {
    let family = architecture.family.as_str();
    let resolved = config.get("resolved").and_then(Value::as_object).into_iter().flatten();
    let mut contents = FileContents::default();
    let mut add_setting = |key: String, value: &Value| {
        contents
            .settings
            .entry(key)
            .or_default()
            .insert(value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    };
    config.iter().filter(|(key, _)| *key != "resolved").for_each(|(key, value)| add_setting(key.clone(), value));
    for (key, value) in resolved.clone() {
        // What was resolved is of this family.
        let of_family = PREFIXES.iter().filter(|prefix| family.starts_with(prefix.trim_end_matches(['_', '3'])));
        of_family.for_each(|prefix| add_setting(format!("{prefix}{key}"), value));
    }
    if let Some(contradicting_setting) = contradicting_setting(family, &contents) {
        return Some(contradicting_setting);
    }
    let whole = config.iter().chain(resolved).filter(|(_, value)| !value.is_null());
    for (key, value) in whole {
        let name = PREFIXES.iter().find_map(|prefix| key.strip_prefix(prefix)).unwrap_or(key);
        let Some(ours) = ours(architecture, name) else { continue };
        // A number may be written as a whole one or not.
        let is_same = match (value.as_f64(), ours.as_f64()) {
            (Some(value), Some(ours)) => value == ours,
            _ => *value == ours,
        };
        if !is_same {
            return Some(format!("has `{key}` = {value}, where this {family} has {ours}: it is another model"));
        }
    }
    None
}

/// Returns the value that a key without its prefix would have for our model, where that is one value.
fn ours(architecture: &Architecture, name: &str) -> Option<Value> {
    let family = architecture.family.as_str();
    let count = |option: &str| architecture.options.get(option)?.parse::<u64>().ok().map(Value::from);
    let is = |start: &str| family.starts_with(start);
    match name {
        "arch" if is("mamba") => Some("mamba".into()),
        "arch" => ["transformer", "slice", "gated_deltanet"].into_iter().find(|arch| is(arch)).map(Value::from),
        "n_heads" | "head_dim" | "allow_neg_eigval" if !is("gated_deltanet") => None,
        "n_heads" => count("heads"),
        "allow_neg_eigval" => Some((family == "gated_deltanet").into()),
        "head_dim" => count("key_width"),
        "block_size" if family == "slice_diag" => Some(1.into()),
        "block_size" => count("block"),
        "variant" if is("mamba") => Some(if is("mamba3") { "mamba-3" } else { "mamba-2" }.into()),
        "d_state" => count("state"),
        "headdim" => count("head_width"),
        "is_mimo" if is("mamba3") => Some((family == "mamba3_mimo").into()),
        "mimo_rank" => count("rank"),
        _ => None,
    }
}
