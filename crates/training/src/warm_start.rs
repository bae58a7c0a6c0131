//! Starting from a shorter training of the same configuration, so that the longer one ends as if there had been no break:
//! the port `state`.
//!
//! A folder of `state.json`, which says what the training was; `state.safetensors`, the state after its last step; and
//! `curves.jsonl`, its curves up to there. Where nothing is kept there is `state.json` alone, and says so.

use std::io::Read;
use std::path::{Path, PathBuf};

use cwm_contract::{Context, Failure, Values};
use serde::{Deserialize, Serialize};

use crate::curves::CurvesPrefix;
use crate::optimiser::AdamWOptions;
use crate::{Objective, State, checkpoint_file, checkpoints};

/// Version of the folders that this code reads and writes.
const FORMAT: u32 = 1;

const DESCRIPTION: &str = "state.json";
const STATE: &str = "state.safetensors";
const CURVES: &str = "curves.jsonl";

#[derive(Debug, Deserialize)]
struct Version {
    format: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    format: u32,
    /// Null if nothing was kept.
    training: Option<Recipe>,
}

/// Everything that must be equal for a continuation to end as an uninterrupted training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Parameters, but those that may differ and those without effect.
    pub parameters: Values,
    /// Updates after which the learning rate is at its floor; null where it does not fall.
    pub horizon: Option<u64>,
    /// BLAKE3 of the training set ([`files_digest`]).
    pub train: String,
    /// BLAKE3 of the validation set, if there is one.
    pub validation: Option<String>,
}

impl Recipe {
    /// Returns the differences of `other` from `self`, as text.
    fn differences(&self, other: &Recipe) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let names = self.parameters.keys().chain(other.parameters.keys());
        let mut names: Vec<&String> = names.collect();
        names.sort();
        names.dedup();
        for name in names {
            let (there, here) = (self.parameters.get(name), other.parameters.get(name));
            if there != here {
                let word = |value: Option<&cwm_contract::Value>| {
                    value.map_or_else(|| "not in use".to_owned(), ToString::to_string)
                };
                found.push(format!("`{name}` is {} there and {} here", word(there), word(here)));
            }
        }
        if self.horizon != other.horizon && (self.horizon.is_some() && other.horizon.is_some()) {
            let steps = |horizon: Option<u64>| horizon.unwrap_or_default();
            found.push(format!(
                "the learning rate falls until update {} there and {} here",
                steps(self.horizon),
                steps(other.horizon)
            ));
        }
        for (name, same) in [("train", self.train == other.train), ("validation", self.validation == other.validation)]
        {
            if !same {
                found.push(format!("the data of `{name}` differ"));
            }
        }
        found
    }
}

/// Writes the port: `state`, if there is a `recipe` to keep it for. Its curves are the whole of the file `curves` at present,
/// which is that `prefix`.
///
/// # Errors
/// An operation on the disk fails.
pub fn write<T: Objective>(
    folder: &Path,
    objective: &T,
    (state, prefix): (&State<T::Metrics>, &CurvesPrefix),
    recipe: Option<Recipe>,
    curves: &Path,
) -> Result<(), Failure> {
    fs_err::create_dir_all(folder)?;
    if recipe.is_some() {
        copy(curves, &folder.join(CURVES))?;
        let mut file = fs_err::File::create(folder.join(STATE))?;
        checkpoint_file::write(&mut file, objective, state, prefix)?;
        file.sync_all()?;
    }
    let description = Description { format: FORMAT, training: recipe };
    let mut text = serde_json::to_vec_pretty(&description).map_err(|error| Failure::internal(error.to_string()))?;
    text.push(b'\n');
    fs_err::write(folder.join(DESCRIPTION), text)?;
    Ok(())
}

/// Reads the state of the port `folder` for a training of this `recipe` and of `total_steps`, with the prefix of the curves
/// that belongs to it; the curves so far are copied to the folder that is kept.
///
/// # Errors
/// The port holds no state, or one of another training or of a longer one.
pub fn read<T: Objective>(
    context: &Context,
    folder: &Path,
    objective: &T,
    adamw: AdamWOptions,
    recipe: &Recipe,
    total_steps: u64,
) -> Result<(State<T::Metrics>, CurvesPrefix), Failure> {
    let wrong = |what: String| Failure::input(format!("input `state` ({}) {what}", folder.display()));
    let text = fs_err::read(folder.join(DESCRIPTION))?;
    let unreadable = |error: serde_json::Error| wrong(format!("is no state of a training: {error}"));
    let Version { format } = serde_json::from_slice(&text).map_err(unreadable)?;
    if format != FORMAT {
        return Err(wrong(format!("has format {format}, this build reads {FORMAT}")));
    }
    let Description { training, .. } = serde_json::from_slice(&text).map_err(unreadable)?;
    let Some(training) = training else {
        return Err(wrong("is of a training that kept none".into()).hint("give that training `keep_state: true`"));
    };
    let differences = training.differences(recipe);
    if !differences.is_empty() {
        return Err(wrong(format!("is of another training: {}", differences.join("; "))).hint(
            "a longer training may differ in `steps` and `epochs` alone; where the learning rate falls, give both the same \
             `horizon`",
        ));
    }
    let (state, prefix) = checkpoint_file::read(&folder.join(STATE), objective, adamw)
        .map_err(|unusable| wrong(format!("cannot be continued: {unusable}")))?;
    if state.step > total_steps {
        return Err(wrong(format!("has made {} steps, and this training is to have {total_steps}", state.step)));
    }
    if !prefix.is_in(&folder.join(CURVES))? {
        return Err(wrong("cannot be continued: its curves are not those that its state belongs to".into()));
    }
    copy(&folder.join(CURVES), &checkpoints::curves_path(context.checkpoint_dir()))?;
    Ok((state, prefix))
}

/// Copies the bytes without the permissions: files of the store are read-only, and the copy must be written to.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    std::io::copy(&mut fs_err::File::open(from)?, &mut fs_err::File::create(to)?)?;
    Ok(())
}

/// BLAKE3 of a folder of files: their names, sizes and contents, by name.
///
/// # Errors
/// A file cannot be read, or the stage was cancelled.
pub fn files_digest(context: &Context, folder: &Path) -> Result<String, Failure> {
    let mut files: Vec<PathBuf> =
        fs_err::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, Failure>>()?;
    files.sort();
    let mut hasher = blake3::Hasher::new_derive_key("cwm-train 1 files of a dataset");
    let mut piece = vec![0; 1 << 20];
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut file = fs_err::File::open(&path)?;
        let size = file.metadata()?.len();
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes()).update(&size.to_le_bytes());
        loop {
            context.check_cancelled()?;
            match file.read(&mut piece)? {
                0 => break,
                read => _ = hasher.update(&piece[..read]),
            }
        }
    }
    Ok(hasher.finalize().to_hex().to_string())
}
