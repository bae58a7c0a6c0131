//! The port `state`: what a training gives out so that a longer one of the same configuration may start from it, and ends
//! as if it had not been interrupted.
//!
//! A folder of `state.json`, which says what the training was; `state.safetensors`, the state after its last step; and
//! `curves.jsonl`, its curves up to there. Without `keep_state` there is `state.json` alone, and says so.

use std::io::Read;
use std::path::{Path, PathBuf};

use cwm_contract::{Context, Failure, Values};
use cwm_models::Network;
use serde::{Deserialize, Serialize};

use crate::choice::Given;
use crate::curves::Written;
use crate::keep;
use crate::saved;
use crate::trainer::State;

/// Version of the folders that this code reads and writes.
const FORMAT: u32 = 1;
/// Parameters in which a training and its continuation may differ. What counts of `horizon` is what follows from it.
const MAY_DIFFER: [&str; 4] = ["steps", "epochs", "keep_state", "horizon"];

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
    training: Option<Training>,
}

/// What must be the same for a continuation to end as an uninterrupted training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// Parameters, but those that may differ and those that mean nothing.
    parameters: Values,
    /// Updates after which the learning rate is at its floor; null where it does not fall.
    horizon: Option<u64>,
    /// BLAKE3 of the training set.
    train: String,
    /// BLAKE3 of the validation set, if there is one.
    validation: Option<String>,
}

impl Training {
    /// Of this run, which has `total_steps` in all. Reads the datasets from beginning to end.
    ///
    /// # Errors
    /// A dataset cannot be read, or the stage was asked to stop.
    pub fn read(context: &Context, given: &Given, total_steps: u64) -> Result<Self, Failure> {
        let idle = given.config.unused_parameters();
        let counts = |name: &str| !MAY_DIFFER.contains(&name) && !idle.contains(&name);
        let parameters = given.values.iter().filter(|(name, _)| counts(name));
        let falls = given.config.schedule != "constant";
        Ok(Training {
            parameters: parameters.map(|(name, value)| (name.clone(), value.clone())).collect(),
            horizon: falls.then(|| given.config.horizon.unwrap_or(total_steps)),
            train: digest(context, context.input("train")?)?,
            validation: context.optional_input("validation").map(|path| digest(context, path)).transpose()?,
        })
    }

    /// In what `self` is another than `other`, in words.
    fn differences(&self, other: &Training) -> Vec<String> {
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
                found.push(format!("the games of `{name}` are others"));
            }
        }
        found
    }
}

/// Writes the port: `state`, if there is a `training` to keep it for. Its curves are the whole of `curves` at present, which
/// is what was `written`.
///
/// # Errors
/// The disk refuses.
pub fn write(
    folder: &Path,
    network: &Network,
    state: &State,
    training: Option<Training>,
    curves: &Path,
    written: &Written,
) -> Result<(), Failure> {
    fs_err::create_dir_all(folder)?;
    if training.is_some() {
        copy(curves, &folder.join(CURVES))?;
        saved::write(&folder.join(STATE), network, state, written)?;
    }
    let description = Description { format: FORMAT, training };
    let mut text = serde_json::to_vec_pretty(&description).map_err(|error| Failure::internal(error.to_string()))?;
    text.push(b'\n');
    fs_err::write(folder.join(DESCRIPTION), text)?;
    Ok(())
}

/// Takes the state from the port `folder` for this `training` of `total_steps`; the curves so far are brought to the folder
/// that is kept. Returns what was written of them as well.
///
/// # Errors
/// There is no state in it, or one of another training or of a longer one.
pub fn take(
    context: &Context,
    folder: &Path,
    network: &Network,
    given: &Given,
    training: &Training,
    total_steps: u64,
) -> Result<(State, Written), Failure> {
    let wrong = |what: String| Failure::input(format!("input `state` ({}) {what}", folder.display()));
    let text = fs_err::read(folder.join(DESCRIPTION))?;
    let unreadable = |error: serde_json::Error| wrong(format!("is no state of a training: {error}"));
    let Version { format } = serde_json::from_slice(&text).map_err(unreadable)?;
    if format != FORMAT {
        return Err(wrong(format!("has format {format}, this build reads {FORMAT}")));
    }
    let Description { training: kept, .. } = serde_json::from_slice(&text).map_err(unreadable)?;
    let Some(kept) = kept else {
        return Err(wrong("is of a training that kept none".into()).hint("give that training `keep_state: true`"));
    };
    let differences = kept.differences(training);
    if !differences.is_empty() {
        return Err(wrong(format!("is of another training: {}", differences.join("; "))).hint(
            "a longer training may differ in `steps` and `epochs` alone; where the learning rate falls, give both the same \
             `horizon`",
        ));
    }
    let (state, written) = saved::read(&folder.join(STATE), network, &given.config)
        .map_err(|unusable| wrong(format!("cannot be continued: {unusable}")))?;
    if state.step > total_steps {
        return Err(wrong(format!("has made {} steps, and this training is to have {total_steps}", state.step)));
    }
    if !written.begins(&folder.join(CURVES))? {
        return Err(wrong("cannot be continued: its curves are not those that its state knows".into()));
    }
    copy(&folder.join(CURVES), &keep::curves_path(context.checkpoint_dir()))?;
    Ok((state, written))
}

/// Copies the bytes alone: what comes out of the store must not be written to, and the copy must.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    std::io::copy(&mut fs_err::File::open(from)?, &mut fs_err::File::create(to)?)?;
    Ok(())
}

/// BLAKE3 of a dataset: names, sizes and contents of its files, by name.
fn digest(context: &Context, folder: &Path) -> Result<String, Failure> {
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
