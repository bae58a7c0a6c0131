//! The manifest that may lie beside fixtures: what their tensors do not show.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cwm_contract::Failure;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{config, paths};

/// Its name.
pub const FILE: &str = "manifest.json";

/// The entry of a manifest for one fixture.
#[derive(Clone, Debug, Deserialize)]
pub struct Entry {
    /// The authors' name of the family.
    pub family: Option<String>,
    /// `tiny` or `d128`.
    pub size: Option<String>,
    /// Tokens of moves.
    pub move_vocab: Option<usize>,
    /// The configuration of the authors' model.
    #[serde(default)]
    pub config: Config,
    /// Number of parameters.
    pub param_count: Option<u64>,
    /// Mean of all cross-entropies.
    pub loss: Option<f64>,
    /// Their sum.
    pub loss_sum: Option<f64>,
    /// Their number.
    pub denom: Option<f64>,
    /// The loss in f64.
    pub fp64_loss: Option<f64>,
    /// Sum of cross-entropies by kind of label.
    #[serde(default)]
    pub head_losses: BTreeMap<String, HeadLoss>,
    /// Norm of all gradients together.
    pub global_grad_norm: Option<f64>,
    /// Parameters without weight decay.
    pub no_weight_decay_params_upstream: Option<BTreeSet<String>>,
    /// A short training.
    pub train_trace: Option<Trace>,
    /// The configuration as it is written.
    #[serde(skip)]
    pub written_config: Map<String, Value>,
    /// Unknown keys, with their places.
    #[serde(skip)]
    pub unknown: Vec<String>,
}

/// Keys of a fixture that record how it was made, or repeat facts about its tensors.
const PROVENANCE_KEYS: [&str; 11] = [
    "bytes",
    "file",
    "fp32_vs_fp64_max_abs_logit_diff",
    "fp32_vs_fp64_max_rel_grad_diff",
    "logit_abs_max",
    "pad_id",
    "params_without_grad",
    "seed",
    "sha256",
    "start_id",
    "valid_state_tokens",
];
/// Keys that [`Entry`] reads.
const READ: [&str; 13] = [
    "config",
    "denom",
    "family",
    "fp64_loss",
    "global_grad_norm",
    "head_losses",
    "loss",
    "loss_sum",
    "move_vocab",
    "no_weight_decay_params_upstream",
    "param_count",
    "size",
    "train_trace",
];
const OF_HEADS: [&str; 2] = ["loss_sum", "denom"];
const OF_TRACE: [&str; 4] = ["fp64_rerun", "grad_norms", "hyper", "losses"];
const OF_HYPER: [&str; 10] = [
    "batch",
    "betas",
    "dropout",
    "eps",
    "grad_clip_global_l2",
    "lr",
    "optimizer",
    "param_groups",
    "steps",
    "weight_decay",
];

/// Keys of a written entry that are none of those above: a misspelt one would not be compared with anything.
fn unknown(written: &Value) -> Vec<String> {
    let mut unknown = Vec::new();
    let mut look = |place: &str, of: &Value, is_known: &dyn Fn(&str) -> bool| {
        let keys = of.as_object().into_iter().flat_map(Map::keys);
        unknown.extend(keys.filter(|key| !is_known(key)).map(|key| format!("{place}{key}")));
    };
    look("", written, &|key| READ.contains(&key) || PROVENANCE_KEYS.contains(&key));
    look("config.", &written["config"], &config::is_known);
    look("config.resolved.", &written["config"]["resolved"], &config::is_known_resolved);
    for (name, head) in written["head_losses"].as_object().into_iter().flatten() {
        look(&format!("head_losses.{name}."), head, &|key| OF_HEADS.contains(&key));
    }
    let trace = &written["train_trace"];
    let steps = &trace["hyper"]["steps"];
    let after = ["loss", "param_norm", "param_dot_init"].map(|what| format!("{what}_after_{steps}"));
    look("train_trace.", trace, &|key| OF_TRACE.contains(&key) || after.iter().any(|after| after == key));
    look("train_trace.hyper.", &trace["hyper"], &|key| OF_HYPER.contains(&key));
    unknown
}

/// The manifest's entry for a fixture, or the reason for its absence.
#[derive(Debug)]
pub struct FixtureInfo {
    /// The entry of the fixture.
    pub entry: Option<Entry>,
    /// The reason for parts that it does not have.
    pub why_incomplete: &'static str,
}

/// The authors' configuration, as far as it is compared or needed.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Config {
    /// Width of the model.
    pub d_model: Option<usize>,
    /// Layers.
    pub n_layers: Option<usize>,
    /// Heads, where the family takes their number from here.
    pub n_heads: Option<usize>,
}

/// The loss of one kind of label.
#[derive(Clone, Debug, Deserialize)]
pub struct HeadLoss {
    /// Sum of cross-entropies.
    pub loss_sum: f64,
    /// Number of labels.
    pub denom: f64,
}

/// Updates by AdamW on the fixture's batch.
#[derive(Clone, Debug, Deserialize)]
pub struct Trace {
    /// Loss before each update.
    pub losses: Vec<f64>,
    /// Norm of all gradients at each update.
    pub grad_norms: Vec<f64>,
    /// Its hyper-parameters.
    pub hyper: Hyperparameters,
    /// The losses and norms after a number of updates, `loss_after_5` for one: their names hold the number.
    #[serde(skip)]
    pub after: Map<String, Value>,
}

/// Hyper-parameters of a trace.
#[derive(Clone, Debug, Deserialize)]
pub struct Hyperparameters {
    /// Learning rate, the same at each update.
    pub lr: f64,
    /// Decays of the moments.
    pub betas: [f64; 2],
    /// Added to the root of the second moment.
    pub eps: f64,
    /// Weight decay.
    pub weight_decay: f64,
    /// Largest norm of all gradients together.
    pub grad_clip_global_l2: f64,
    /// Number of updates.
    pub steps: usize,
}

/// The files that the manifest at `path` names, beside it.
///
/// # Errors
/// It cannot be read, or names none.
pub fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let text = paths::contents(path)?;
    let wrong = |what: String| Failure::input(format!("{} is no manifest of fixtures: {what}", path.display()));
    let manifest: Value = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
    let named =
        listed(&manifest).map_err(|what| wrong(what.to_owned()))?.iter().filter_map(|fixture| fixture["file"].as_str());
    let files: Vec<PathBuf> = named.map(|name| path.with_file_name(name)).collect();
    if files.is_empty() { Err(wrong("it names no file in `fixtures`".to_owned())) } else { Ok(files) }
}

/// The entries of a manifest.
fn listed(manifest: &Value) -> Result<&[Value], &'static str> {
    manifest["fixtures"].as_array().map(Vec::as_slice).ok_or("it has no list `fixtures`")
}

/// Reads the entry for `file` in the manifest beside it.
///
/// # Errors
/// There is a manifest that cannot be read, or whose entry is not what it should be.
pub fn entry(file: &Path) -> Result<FixtureInfo, String> {
    let none = |why_incomplete| Ok(FixtureInfo { entry: None, why_incomplete });
    if !is_beside(file)? {
        return none("no manifest.json beside it");
    }
    let Some(written) = written(file)? else { return none("the manifest.json beside it does not name it") };
    let mut entry = Entry::deserialize(&written).map_err(|error| wrong(file, &error.to_string()))?;
    entry.written_config = written["config"].as_object().cloned().unwrap_or_default();
    if let (Some(trace), Some(written)) = (&mut entry.train_trace, written["train_trace"].as_object()) {
        trace.after = written.clone();
    }
    entry.unknown = unknown(&written);
    Ok(FixtureInfo { entry: Some(entry), why_incomplete: "not in its manifest" })
}

/// The entry for `file` in the manifest beside it, as it is written; `None` if there is no manifest or no such entry.
///
/// # Errors
/// There is a manifest that cannot be read, or that has several such entries.
pub fn written(file: &Path) -> Result<Option<Value>, String> {
    if !is_beside(file)? {
        return Ok(None);
    }
    let text = paths::contents(&file.with_file_name(FILE));
    let text = text.map_err(|failure| format!("has a manifest beside it, but {failure}"))?;
    let manifest: Value = serde_json::from_slice(&text).map_err(|error| wrong(file, &error.to_string()))?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let fixtures = listed(&manifest).map_err(|what| wrong(file, what))?;
    let mut named = fixtures.iter().filter(|fixture| fixture["file"].as_str() == Some(&*name));
    let entry = named.next().cloned();
    if named.next().is_some() {
        return Err(wrong(file, &format!("it has several entries of `{name}`")));
    }
    Ok(entry)
}

/// True if a manifest lies beside `file`.
fn is_beside(file: &Path) -> Result<bool, String> {
    let path = file.with_file_name(FILE);
    let exists = path.try_exists();
    exists.map_err(|error| format!("cannot read the manifest beside it, {}: {error}", path.display()))
}

fn wrong(file: &Path, what: &str) -> String {
    format!("the manifest beside it, {}, is wrong: {what}", file.with_file_name(FILE).display())
}
