//! What survives an interruption: the state of a run, in the folder that the executor keeps until the result is recorded.
//!
//! Each checkpoint is one file, `step-000000000500.safetensors`. It is written beside, brought to the disk and renamed, so
//! that a file of that name is whole; the last two are kept.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cwm_contract::{Context, Failure};
use cwm_models::Network;

use crate::config::Config;
use crate::saved::{self, Unusable};
use crate::trainer::State;

/// Checkpoints kept.
const KEPT: usize = 2;
/// Beginning and end of a checkpoint's name.
const NAME: (&str, &str) = ("step-", ".safetensors");
/// What a checkpoint is called while it is written.
const UNFINISHED: &str = "writing.tmp";
/// A checkpoint is due after so long, however few steps were made.
const LONGEST: Duration = Duration::from_secs(600);

/// The file of the curves of a run in progress.
pub fn curves_path(folder: &Path) -> PathBuf {
    folder.join("curves.jsonl")
}

/// Whether a checkpoint is due after step `step`: every so many steps, and when the last one is long ago.
pub fn is_due(step: u64, every: u64, since_last: Duration) -> bool {
    step.is_multiple_of(every) || since_last >= LONGEST
}

/// Keeps `state`, to which the first `curves_length` bytes of the curves belong.
///
/// # Errors
/// The disk refuses.
pub fn save(folder: &Path, network: &Network, state: &State, curves_length: u64) -> Result<(), Failure> {
    let beside = folder.join(UNFINISHED);
    saved::write(&beside, network, state, curves_length)?;
    fs_err::rename(&beside, folder.join(format!("{}{:012}{}", NAME.0, state.step, NAME.1)))?;
    fs_err::File::open(folder)?.sync_all()?;
    for old in checkpoints(folder)?.into_iter().skip(KEPT) {
        fs_err::remove_file(old)?;
    }
    Ok(())
}

/// The last state kept and the length of the curves that belong to it; `None` when there is none.
///
/// # Errors
/// The folder cannot be read, or holds what another model or a newer cwm left.
pub fn load(context: &Context, network: &Network, config: &Config) -> Result<Option<(State, u64)>, Failure> {
    let folder = context.kept();
    for path in checkpoints(folder)? {
        match saved::read(&path, network, config) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_are_due_by_step_and_by_the_clock() {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        assert!(is_due(1_000, 500, minutes(0)));
        assert!(!is_due(1_001, 500, minutes(9)));
        assert!(is_due(1_001, 500, minutes(10)));
    }
}
