//! Checkpoints of an interrupted run: its state, in the folder that the executor keeps until the result is recorded.
//!
//! Each checkpoint is one file, `step-000000000500.safetensors`, replaced atomically, so that a file of that name is whole;
//! the last two are kept. One that is damaged all the same is renamed to another name and ignored from then on.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cwm_contract::{Context, Failure, write_atomically};

use crate::checkpoint_file::{self, ResumeError};
use crate::curves::CurvesPrefix;
use crate::optimiser::AdamWOptions;
use crate::{Objective, State};

/// Checkpoints kept.
const KEPT: usize = 2;
/// Beginning and end of a checkpoint's name.
const NAME: (&str, &str) = ("step-", ".safetensors");
/// Name of a checkpoint while it is written.
const UNFINISHED: &str = "writing.tmp";
/// End of the name of a damaged file.
const DAMAGED: &str = ".damaged";
/// A checkpoint is due after so long, however few steps were made.
const LONGEST: Duration = Duration::from_secs(600);

/// The file of the curves of a run in progress.
pub fn curves_path(folder: &Path) -> PathBuf {
    folder.join("curves.jsonl")
}

/// Returns true if a checkpoint is due after step `step`: every so many steps, and when the last one is long ago.
pub fn is_due(step: u64, every: u64, since_last: Duration) -> bool {
    step.is_multiple_of(every) || since_last >= LONGEST
}

/// Writes a checkpoint of `state`, to which that `prefix` of the curves belongs. It replaces all of later steps and all
/// before the last two.
///
/// # Errors
/// An operation on the disk fails.
pub fn save<T: Objective>(
    folder: &Path,
    objective: &T,
    state: &State<T::Metrics>,
    prefix: &CurvesPrefix,
) -> Result<(), Failure> {
    let path = folder.join(format!("{}{:012}{}", NAME.0, state.step, NAME.1));
    let write = |file: &mut std::fs::File| checkpoint_file::write(file, objective, state, prefix);
    write_atomically(&path, &folder.join(UNFINISHED), write).map_err(|error| Failure::io("write", &path, error))?;
    let (later, others): (Vec<_>, Vec<_>) = checkpoints(folder)?.into_iter().partition(|(step, _)| *step > state.step);
    for (_, path) in later.into_iter().chain(others.into_iter().skip(KEPT)) {
        fs_err::remove_file(path)?;
    }
    Ok(())
}

/// The newest checkpoint that can be resumed, with the prefix of the curves that belongs to it; `None` when there is none.
/// Checkpoints that are damaged, or whose curves are, are renamed; where no other is left, so are the curves.
///
/// # Errors
/// The folder or what lies in it cannot be read, or it holds what another objective or a newer cwm wrote. Then nothing
/// was changed there but those names.
pub fn load<T: Objective>(
    context: &Context,
    objective: &T,
    adamw: AdamWOptions,
) -> Result<Option<(State<T::Metrics>, CurvesPrefix)>, Failure> {
    let folder = context.checkpoint_dir();
    let curves = curves_path(folder);
    let found = checkpoints(folder)?;
    let none_kept = found.is_empty();
    for (_, path) in found {
        let why = match checkpoint_file::read(&path, objective, adamw) {
            Ok((state, prefix)) if prefix.is_in(&curves)? => return Ok(Some((state, prefix))),
            Ok(_) => "the curves beside it are not those that it belongs to".to_owned(),
            Err(ResumeError::Damaged(why)) => why,
            Err(ResumeError::Unreadable(error)) => {
                let hint = format!("make it readable; or delete {} to train from the start", folder.display());
                return Err(Failure::from(error).hint(hint));
            }
            Err(ResumeError::Foreign(why)) => {
                return Err(Failure::input(format!("cannot resume from {}: {why}", path.display()))
                    .hint(format!("delete {} to train from the start", folder.display())));
            }
        };
        context.log(format!("{} is damaged ({why}): renamed to *{DAMAGED}; trying the one before it", path.display()));
        rename_damaged(&path)?;
    }
    if !none_kept && curves.try_exists()? {
        rename_damaged(&curves)?;
    }
    Ok(None)
}

fn rename_damaged(path: &Path) -> Result<(), Failure> {
    let mut name = path.as_os_str().to_owned();
    name.push(DAMAGED);
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
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::testing::{Straight, adamw, start};

    #[test]
    fn checkpoints_are_due_by_step_and_by_the_clock() {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        assert!(is_due(1_000, 500, minutes(0)));
        assert!(!is_due(1_001, 500, minutes(9)));
        assert!(is_due(1_001, 500, minutes(10)));
    }

    #[test]
    fn a_checkpoint_replaces_later_and_older_ones_and_has_usual_permissions() {
        let objective = Straight::new();
        let mut state = State::new(start(&objective), adamw());
        let folder = tempfile::tempdir().unwrap();
        let kept = || {
            let entries = std::fs::read_dir(folder.path()).unwrap();
            let mut names: Vec<String> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        let name = |step: u64| format!("step-{step:012}.safetensors");
        // One of more digits than a name has room for is later still.
        let far = 10_000_000_000_000;
        for (step, left) in [(7, vec![7]), (9, vec![7, 9]), (11, vec![9, 11]), (far, vec![11, far]), (10, vec![9, 10])]
        {
            // As if that one had been damaged and renamed.
            if step == 10 {
                std::fs::copy(folder.path().join(name(11)), folder.path().join(name(9))).unwrap();
            }
            state.step = step;
            save(folder.path(), &objective, &state, &CurvesPrefix::empty()).unwrap();
            let mut left: Vec<String> = left.into_iter().map(name).collect();
            left.sort();
            assert_eq!(kept(), left, "after step {step}");
        }
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
        let usual = folder.path().join("usual");
        std::fs::write(&usual, "").unwrap();
        assert_eq!(mode(&folder.path().join(name(10))), mode(&usual));
        let (read, _) = checkpoint_file::read(&folder.path().join(name(10)), &objective, adamw()).unwrap();
        assert_eq!((read.step, read.weights.values()), (10, state.weights.values()));
    }
}
