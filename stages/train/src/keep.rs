//! What survives an interruption: the state of a run, in the folder that the executor keeps.
//!
//! Each checkpoint is one safetensors file, `step-000000000500.safetensors`: flat f32 tensors `weights`, `first`, `second`
//! (moments) and `snapshot`, and all else as JSON in its metadata. It is written beside, brought to the disk and renamed,
//! so that a file of that name is whole; the last two are kept.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use cwm_contract::{Context, Failure};
use cwm_models::checkpoint::{Floats, fill};
use cwm_models::parameters::Weights;
use cwm_models::{Architecture, Network};
use safetensors::tensor::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::trainer::State;

/// Version of the files that this code writes.
const FORMAT: u32 = 1;
/// Name of the JSON in a file's metadata.
const KEY: &str = "cwm.train";
/// Checkpoints kept.
const KEPT: usize = 2;
/// Beginning and end of a checkpoint's name.
const NAME: (&str, &str) = ("step-", ".safetensors");

#[derive(Serialize, Deserialize)]
struct Counts {
    format: u32,
    architecture: Architecture,
    step: u64,
    updates: u64,
    skipped: u64,
    bad_in_a_row: u64,
    validated: u64,
    curves_length: u64,
}

/// The file of the curves of a run in progress.
pub fn curves_path(folder: &Path) -> PathBuf {
    folder.join("curves.jsonl")
}

/// Keeps `state`, to which the first `curves_length` bytes of the curves belong.
///
/// # Errors
/// The disk refuses.
pub fn save(folder: &Path, network: &Network, state: &State, curves_length: u64) -> Result<(), Failure> {
    let counts = Counts {
        format: FORMAT,
        architecture: network.architecture().clone(),
        step: state.step,
        updates: state.adamw.updates,
        skipped: state.skipped,
        bad_in_a_row: state.bad_in_a_row,
        validated: state.validated,
        curves_length,
    };
    let counts = serde_json::to_string(&counts).map_err(|error| Failure::internal(error.to_string()))?;
    let metadata = HashMap::from([(KEY.to_owned(), counts)]);
    let shape = [network.layout().total()];
    let arrays = arrays(state).map(|(name, weights)| (name, Floats { shape: &shape, values: weights.values() }));
    let beside = folder.join("writing.tmp");
    let path = folder.join(format!("{}{:012}{}", NAME.0, state.step, NAME.1));
    safetensors::serialize_to_file(arrays, Some(metadata), &beside)
        .map_err(|error| Failure::system(format!("cannot write {}: {error}", beside.display())))?;
    fs_err::File::open(&beside)?.sync_all()?;
    fs_err::rename(&beside, &path)?;
    fs_err::File::open(folder)?.sync_all()?;
    for old in checkpoints(folder)?.into_iter().skip(KEPT) {
        fs_err::remove_file(old)?;
    }
    Ok(())
}

fn arrays(state: &State) -> [(&'static str, &Weights); 4] {
    [
        ("weights", &state.weights),
        ("first", &state.adamw.first),
        ("second", &state.adamw.second),
        ("snapshot", &state.snapshot),
    ]
}

/// The last state kept and the length of the curves that belong to it; `None` when there is none.
///
/// # Errors
/// The folder cannot be read, or holds what another model or a newer cwm left.
pub fn load(context: &Context, network: &Network, config: &Config) -> Result<Option<(State, u64)>, Failure> {
    let folder = context.kept();
    for path in checkpoints(folder)? {
        match read(&path, network, config) {
            Ok(found) => return Ok(Some(found)),
            Err(Unusable::Damaged(why)) => {
                context.log(format!("{} is damaged ({why}); trying the one before it", path.display()));
            }
            Err(Unusable::Foreign(why)) => {
                return Err(Failure::input(format!("{} cannot be continued: {why}", path.display()))
                    .hint(format!("delete {} to train from the start", folder.display())));
            }
        }
    }
    Ok(None)
}

/// All checkpoints, the newest first.
fn checkpoints(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with(NAME.0) && name.ends_with(NAME.1) {
            found.push(path);
        }
    }
    found.sort();
    found.reverse();
    Ok(found)
}

enum Unusable {
    Damaged(String),
    Foreign(String),
}

fn read(path: &Path, network: &Network, config: &Config) -> Result<(State, u64), Unusable> {
    let damaged = |error: &dyn std::fmt::Display| Unusable::Damaged(error.to_string());
    let bytes = fs_err::read(path).map_err(|error| damaged(&error))?;
    let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(|error| damaged(&error))?;
    let counts = metadata.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
    let counts = counts.ok_or_else(|| Unusable::Foreign("it is no checkpoint of a training".into()))?;
    let counts: Counts = serde_json::from_str(counts).map_err(|error| Unusable::Foreign(error.to_string()))?;
    if counts.format != FORMAT {
        return Err(Unusable::Foreign(format!("it has format {}, this build reads {FORMAT}", counts.format)));
    }
    if counts.architecture != *network.architecture() {
        return Err(Unusable::Foreign("it belongs to another model".into()));
    }
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| damaged(&error))?;
    let array = |name: &str| {
        let tensor = tensors.tensor(name).map_err(|error| damaged(&error))?;
        if tensor.dtype() != Dtype::F32 || tensor.shape() != [network.layout().total()] {
            return Err(Unusable::Damaged(format!("`{name}` has another shape")));
        }
        let mut weights = Weights::zeros(network.layout().clone());
        fill(weights.values_mut(), tensor.data());
        Ok(weights)
    };
    let mut state = State::new(network, config);
    state.weights = array("weights")?;
    state.adamw.first = array("first")?;
    state.adamw.second = array("second")?;
    state.adamw.updates = counts.updates;
    state.snapshot = array("snapshot")?;
    state.step = counts.step;
    state.skipped = counts.skipped;
    state.bad_in_a_row = counts.bad_in_a_row;
    state.validated = counts.validated;
    Ok((state, counts.curves_length))
}
