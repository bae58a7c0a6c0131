//! The state of a training as a file: flat f32 tensors `weights`, `first`, `second` (moments) and `snapshot` in a
//! safetensors file, with `checkpoint: best` also `best`, and all else as JSON in its metadata.

use std::collections::HashMap;
use std::path::Path;

use cwm_contract::Failure;
use cwm_models::checkpoint::{Floats, fill};
use cwm_models::parameters::Weights;
use cwm_models::{Architecture, Network};
use safetensors::tensor::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use crate::best::{Best, Measured};
use crate::config::Config;
use crate::trainer::State;

/// Version of the files that this code writes.
const FORMAT: u32 = 1;
/// Name of the JSON in a file's metadata.
const KEY: &str = "cwm.train";

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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    best: Option<Measured>,
}

/// Why a file cannot be gone on from.
#[derive(Debug)]
pub enum Unusable {
    /// It is not whole.
    Damaged(String),
    /// It is another's.
    Foreign(String),
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unusable::Damaged(why) => write!(f, "it is damaged: {why}"),
            Unusable::Foreign(why) => f.write_str(why),
        }
    }
}

/// Writes `state`, to which the first `curves_length` bytes of the curves belong, and brings it to the disk.
///
/// # Errors
/// The disk refuses.
pub fn write(path: &Path, network: &Network, state: &State, curves_length: u64) -> Result<(), Failure> {
    let counts = Counts {
        format: FORMAT,
        architecture: network.architecture().clone(),
        step: state.step,
        updates: state.adamw.updates,
        skipped: state.skipped,
        bad_in_a_row: state.bad_in_a_row,
        validated: state.validated,
        curves_length,
        best: state.best.as_ref().map(Best::measured),
    };
    let counts = serde_json::to_string(&counts).map_err(|error| Failure::internal(error.to_string()))?;
    let metadata = HashMap::from([(KEY.to_owned(), counts)]);
    let shape = [network.layout().total()];
    let mut arrays = vec![
        ("weights", &state.weights),
        ("first", &state.adamw.first),
        ("second", &state.adamw.second),
        ("snapshot", &state.snapshot),
    ];
    arrays.extend(state.best.as_ref().map(|best| ("best", &best.weights)));
    let arrays = arrays.into_iter().map(|(name, weights)| (name, Floats { shape: &shape, values: weights.values() }));
    safetensors::serialize_to_file(arrays, Some(metadata), path)
        .map_err(|error| Failure::system(format!("cannot write {}: {error}", path.display())))?;
    fs_err::File::open(path)?.sync_all()?;
    Ok(())
}

/// Reads the state of a training of `network`, and the length of the curves that belong to it.
///
/// # Errors
/// The file is damaged, or belongs to another model or a newer cwm.
pub fn read(path: &Path, network: &Network, config: &Config) -> Result<(State, u64), Unusable> {
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
    state.best = counts.best.map(|measured| Ok(measured.of(array("best")?))).transpose()?;
    Ok((state, counts.curves_length))
}
