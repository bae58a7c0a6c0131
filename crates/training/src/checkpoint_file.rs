//! The state of a training as a file: flat f32 tensors `weights`, `first`, `second` (moments) and `snapshot` in a
//! safetensors file, `best` where those weights are kept, and all else as JSON in its metadata, with a digest of all of it.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use cwm_models::checkpoint::fill;
use cwm_models::parameters::Weights;
use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorInfo};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::curves::CurvesPrefix;
use crate::optimiser::AdamWOptions;
use crate::{BestWeights, Metrics, Objective, State};

/// Version of the files that this code writes.
const FORMAT: u32 = 2;
/// Name of the JSON in a file's metadata.
const KEY: &str = "cwm.train";
/// Floats that are turned into bytes at once.
const PIECE: usize = 1 << 14;

#[derive(Deserialize)]
struct Version {
    format: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(bound(deserialize = "I: DeserializeOwned, B: DeserializeOwned"))]
struct Header<I, B> {
    format: u32,
    /// BLAKE3 of counts and arrays: a disk may give back other bytes than were written.
    blake3: String,
    counts: Counts<I, B>,
}

/// All but the arrays; the names are those of format 2. `I` is what the checkpoint belongs to, `B` the metrics of the best
/// weights.
#[derive(Serialize, Deserialize)]
#[serde(bound(deserialize = "I: DeserializeOwned, B: DeserializeOwned"))]
struct Counts<I, B> {
    #[serde(rename = "architecture")]
    identity: I,
    step: u64,
    updates: u64,
    skipped: u64,
    #[serde(rename = "bad_in_a_row")]
    consecutive_bad_steps: u64,
    validated: u64,
    curves: CurvesPrefix,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    best: Option<B>,
}

/// The reason why a training cannot be resumed from a file.
#[derive(Debug)]
pub enum ResumeError {
    /// It is missing, or not as it was written.
    Damaged(String),
    /// It belongs to another objective or a newer cwm.
    Foreign(String),
    /// It cannot be read at present; its content is unknown.
    Unreadable(io::Error),
}

impl std::fmt::Display for ResumeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ResumeError::Damaged(why) => write!(f, "it is damaged: {why}"),
            ResumeError::Foreign(why) => f.write_str(why),
            ResumeError::Unreadable(error) => write!(f, "{error}"),
        }
    }
}

/// Writes `state`, to which that `prefix` of the curves belongs.
///
/// # Errors
/// An operation on the disk fails.
pub fn write<T: Objective>(
    file: &mut impl Write,
    objective: &T,
    state: &State<T::Metrics>,
    prefix: &CurvesPrefix,
) -> io::Result<()> {
    let counts = Counts {
        identity: objective.identity().clone(),
        step: state.step,
        updates: state.adamw.updates,
        skipped: state.skipped,
        consecutive_bad_steps: state.consecutive_bad_steps,
        validated: state.validated,
        curves: prefix.clone(),
        best: state.best.as_ref().map(|best| best.metrics.save(best.step)),
    };
    let mut arrays = vec![
        ("weights", &state.weights),
        ("first", &state.adamw.first),
        ("second", &state.adamw.second),
        ("snapshot", &state.snapshot),
    ];
    arrays.extend(state.best.as_ref().map(|best| ("best", &best.weights)));
    arrays.sort_unstable_by_key(|(name, _)| *name);
    let mut digest = Digest::begin(&counts)?;
    for (name, array) in &arrays {
        digest.array(name, array.values().len());
        pieces(array, |bytes| {
            digest.0.update(bytes);
            Ok(())
        })?;
    }
    let header = Header { format: FORMAT, blake3: digest.end(), counts };
    let header = serde_json::to_string(&header)?;
    let mut offset = 0;
    let tensors = arrays.iter().map(|(name, array)| {
        let begin = offset;
        offset += size_of_val(array.values());
        let (dtype, shape) = (Dtype::F32, vec![array.values().len()]);
        ((*name).to_owned(), TensorInfo { dtype, shape, data_offsets: (begin, offset) })
    });
    let metadata = Metadata::new(Some(HashMap::from([(KEY.to_owned(), header)])), tensors.collect());
    let mut metadata = serde_json::to_vec(&metadata.map_err(io::Error::other)?)?;
    // Tensors begin at a multiple of eight bytes.
    metadata.resize(metadata.len().next_multiple_of(8), b' ');

    file.write_all(&(metadata.len() as u64).to_le_bytes())?;
    file.write_all(&metadata)?;
    for (_, array) in &arrays {
        pieces(array, |bytes| file.write_all(bytes))?;
    }
    Ok(())
}

/// Gives `take` the bytes of an array as they stand in a file, some at a time.
fn pieces(array: &Weights, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(PIECE * size_of::<f32>());
    for piece in array.values().chunks(PIECE) {
        bytes.clear();
        piece.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        take(&bytes)?;
    }
    Ok(())
}

/// BLAKE3 of a file's content: its counts, and its arrays by name.
struct Digest(blake3::Hasher);

impl Digest {
    fn begin(counts: &impl Serialize) -> serde_json::Result<Self> {
        let mut hasher = blake3::Hasher::new_derive_key("cwm-train 2 state of a training");
        let counts = serde_json::to_vec(counts)?;
        hasher.update(&(counts.len() as u64).to_le_bytes()).update(&counts);
        Ok(Digest(hasher))
    }

    /// The bytes of the array `name`, of so many values, come next.
    fn array(&mut self, name: &str, values: usize) {
        self.0.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
        self.0.update(&(values as u64).to_le_bytes());
    }

    fn end(self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}

/// Reads the state of a training of `objective`, and the prefix of the curves that belongs to it.
///
/// # Errors
/// The file is damaged or cannot be read, or belongs to another objective or a newer cwm.
pub fn read<T: Objective>(
    path: &Path,
    objective: &T,
    adamw: AdamWOptions,
) -> Result<(State<T::Metrics>, CurvesPrefix), ResumeError> {
    let damaged = |error: &dyn std::fmt::Display| ResumeError::Damaged(error.to_string());
    let bytes = fs_err::read(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => damaged(&error),
        _ => ResumeError::Unreadable(error),
    })?;
    let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(|error| damaged(&error))?;
    let header = metadata.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
    let header = header.ok_or_else(|| damaged(&format!("its metadata has no `{KEY}`")))?;
    let Version { format } = serde_json::from_str(header).map_err(|error| damaged(&error))?;
    if format != FORMAT {
        return Err(ResumeError::Foreign(format!("it has format {format}, this build reads {FORMAT}")));
    }
    type HeaderOf<T> = Header<<T as Objective>::Identity, <<T as Objective>::Metrics as Metrics>::SavedMetrics>;
    let Header { blake3, counts, .. }: HeaderOf<T> = serde_json::from_str(header).map_err(|error| damaged(&error))?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| damaged(&error))?;
    let mut digest = Digest::begin(&counts).map_err(|error| damaged(&error))?;
    let mut found = tensors.tensors();
    found.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
    for (name, tensor) in &found {
        digest.array(name, tensor.data().len() / size_of::<f32>());
        digest.0.update(tensor.data());
    }
    if digest.end() != blake3 {
        return Err(damaged(&"its content is not what was written"));
    }
    if counts.identity != *objective.identity() {
        return Err(ResumeError::Foreign("it belongs to another model".into()));
    }
    let array = |name: &str| {
        let tensor = tensors.tensor(name).map_err(|error| damaged(&error))?;
        if tensor.dtype() != Dtype::F32 || tensor.shape() != [objective.layout().total()] {
            return Err(ResumeError::Damaged(format!("`{name}` has another shape")));
        }
        let mut weights = Weights::zeros(objective.layout().clone());
        fill(weights.values_mut(), tensor.data());
        Ok(weights)
    };
    let mut state = State::new(array("weights")?, adamw);
    state.adamw.first = array("first")?;
    state.adamw.second = array("second")?;
    state.adamw.updates = counts.updates;
    state.snapshot = array("snapshot")?;
    state.step = counts.step;
    state.skipped = counts.skipped;
    state.consecutive_bad_steps = counts.consecutive_bad_steps;
    state.validated = counts.validated;
    if let Some(saved) = counts.best {
        let (step, metrics) = T::Metrics::restore(saved);
        state.best = Some(BestWeights { step, metrics, weights: array("best")? });
    }
    Ok((state, counts.curves))
}
