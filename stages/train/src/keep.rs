//! What survives an interruption: the state of a run, in the folder that the executor keeps until the result is recorded.
//!
//! Each checkpoint is one file, `step-000000000500.safetensors`. It is written beside, brought to the disk and renamed, so
//! that a file of that name is whole; the last two are kept. One that is damaged all the same is set aside under another
//! name, and stands in nobody's way.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cwm_contract::{Context, Failure};
use cwm_models::Network;

use crate::config::Config;
use crate::curves::Written;
use crate::saved::{self, Unusable};
use crate::trainer::State;

/// Checkpoints kept.
const KEPT: usize = 2;
/// Beginning and end of a checkpoint's name.
const NAME: (&str, &str) = ("step-", ".safetensors");
/// What a checkpoint is called while it is written.
const UNFINISHED: &str = "writing.tmp";
/// End of the name of what was set aside.
const ASIDE: &str = ".damaged";
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

/// Keeps `state`, to which what was `written` of the curves belongs, in place of all that are of later steps and of those
/// before the last two.
///
/// # Errors
/// The disk refuses.
pub fn save(folder: &Path, network: &Network, state: &State, written: &Written) -> Result<(), Failure> {
    let beside = folder.join(UNFINISHED);
    if let Err(failure) = saved::write(&beside, network, state, written) {
        // What was written of it may be all that a full disk has no room for; the failure is what is told.
        let _ = fs_err::remove_file(&beside);
        return Err(failure);
    }
    fs_err::rename(&beside, folder.join(format!("{}{:012}{}", NAME.0, state.step, NAME.1)))?;
    fs_err::File::open(folder)?.sync_all()?;
    let (later, others): (Vec<_>, Vec<_>) = checkpoints(folder)?.into_iter().partition(|(step, _)| *step > state.step);
    for (_, path) in later.into_iter().chain(others.into_iter().skip(KEPT)) {
        fs_err::remove_file(path)?;
    }
    Ok(())
}

/// The last state kept and what was written of the curves that belong to it; `None` when there is none. Checkpoints that
/// are damaged, or whose curves are, are set aside; where no other is left, so are the curves.
///
/// # Errors
/// The folder or what lies in it cannot be read, or it holds what another model or a newer cwm left. Then nothing was
/// changed there but that.
pub fn load(context: &Context, network: &Network, config: &Config) -> Result<Option<(State, Written)>, Failure> {
    let folder = context.checkpoint_dir();
    let curves = curves_path(folder);
    let found = checkpoints(folder)?;
    let none_kept = found.is_empty();
    for (_, path) in found {
        let why = match saved::read(&path, network, config) {
            Ok((state, written)) if written.begins(&curves)? => return Ok(Some((state, written))),
            Ok(_) => "the curves beside it are not those that it knows".to_owned(),
            Err(Unusable::Damaged(why)) => why,
            Err(Unusable::Unreadable(error)) => {
                let hint = format!("make it readable; or delete {} to train from the start", folder.display());
                return Err(Failure::from(error).hint(hint));
            }
            Err(Unusable::Foreign(why)) => {
                return Err(Failure::input(format!("{} cannot be continued: {why}", path.display()))
                    .hint(format!("delete {} to train from the start", folder.display())));
            }
        };
        context
            .log(format!("{} is damaged ({why}): it is now called *{ASIDE}; trying the one before it", path.display()));
        set_aside(&path)?;
    }
    if !none_kept && curves.try_exists()? {
        set_aside(&curves)?;
    }
    Ok(None)
}

fn set_aside(path: &Path) -> Result<(), Failure> {
    let mut name = path.as_os_str().to_owned();
    name.push(ASIDE);
    Ok(fs_err::rename(path, name)?)
}

/// All checkpoints with their steps, the newest first.
fn checkpoints(folder: &Path) -> Result<Vec<(u64, PathBuf)>, Failure> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let step = name.strip_prefix(NAME.0).and_then(|rest| rest.strip_suffix(NAME.1));
        if let Some(step) = step.and_then(|step| step.parse().ok()) {
            found.push((step, path));
        }
    }
    found.sort_unstable_by(|left, right| right.cmp(left));
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
