//! Decides if an attempt may resume from the checkpoints of an earlier one.

use std::io::Write;

use super::ActionFile;
use super::protocol::{ActionFailure, ActionFailureKind};
use cwm_core::list_some;
use cwm_store::{CheckpointStamp, WorkFolder};

/// The number of checkpoints that are listed; of more, only their number.
const MAX_LISTED: usize = 4;

/// The ending of a checkpoint that a stage found damaged and set aside: no attempt resumes from it.
const DAMAGED: &str = ".damaged";

/// The code of an attempt, and the folder `checkpoints/` in which it keeps checkpoints.
pub struct CheckpointOwner {
    work: WorkFolder,
    code: String,
}

impl CheckpointOwner {
    /// The owner of the checkpoints of an attempt in this folder.
    pub fn of(work: &WorkFolder, action: &ActionFile) -> CheckpointOwner {
        let code = action.components.code.get("base").cloned().unwrap_or_default();
        CheckpointOwner { work: work.clone(), code }
    }

    /// Prepares `checkpoints/` for an attempt on the device that the stage reports, `cpu` or a GPU and its name; or before that is known,
    /// since a granted GPU may turn out unusable.
    /// Checkpoints of other code are deleted, with a line in the log. Checkpoints of another device are not touched: the refusal
    /// has the option that resumes from them, and the folder to delete to start again.
    ///
    /// # Errors
    /// They are of another device, or an operation on the disk fails.
    pub fn prepare(&self, device: Option<&str>) -> Result<(), ActionFailure> {
        let (device, folder) = (device.map(kind), self.work.checkpoint_folder());
        let mut names = self.work.checkpoints()?;
        let mut found = match self.work.read_stamp() {
            Err(error) if !names.is_empty() => {
                let problem =
                    format!("checkpoints {} of an earlier attempt have no readable stamp: {error}", list(&names));
                let hint = format!("delete {} to start again", folder.display());
                return Err(ActionFailure::new(ActionFailureKind::Input, problem).hint(hint));
            }
            stamp => stamp.unwrap_or_default(),
        };
        let is_ours = |stamp: &CheckpointStamp| stamp.format == CheckpointStamp::FORMAT && stamp.binary == self.code;
        if found.take_if(|stamp| !is_ours(stamp)).is_some() {
            if !names.is_empty() {
                let (checkpoints, folder) = (list(&std::mem::take(&mut names)), folder.display());
                let _ = writeln!(
                    std::io::stderr(),
                    "deleting the checkpoints {checkpoints} in {folder}: other code wrote them; the stage starts again"
                );
            }
            self.work.remove_checkpoints()?;
        }
        match (device, found) {
            (None, _) => Ok(()),
            (Some(device), Some(stamp)) if stamp.device == device => Ok(()),
            (Some(device), Some(stamp)) if !names.is_empty() => Err(self.refusal(&stamp.device, device, &names)),
            (Some(device), _) => {
                let (format, binary) = (CheckpointStamp::FORMAT, self.code.clone());
                Ok(self.work.write_stamp(&CheckpointStamp { format, binary, device: device.to_owned() })?)
            }
        }
    }

    fn refusal(&self, before: &str, now: &str, names: &[String]) -> ActionFailure {
        let is_processor = |kind| kind == CheckpointStamp::PROCESSOR;
        let name = |kind| if is_processor(kind) { "the CPU".to_owned() } else { format!("a GPU ({kind})") };
        let option = if is_processor(before) { before.to_owned() } else { format!("{before}:0") };
        let (before, now, checkpoints, folder) = (name(before), name(now), list(names), self.work.checkpoint_folder());
        let problem = format!(
            "an earlier attempt on {before} kept {checkpoints}; resuming on {now} would give a result that differs \
             from those of both devices"
        );
        let folder = folder.display();
        ActionFailure::new(ActionFailureKind::Input, problem)
            .hint(format!("`--device {option}` resumes from there; to start again on {now}, delete {folder}"))
    }
}

/// The kind of a device: `cpu`; `cuda` of `cuda:0, NVIDIA H200`.
fn kind(device: &str) -> &str {
    device.split(':').next().unwrap_or(device)
}

/// True if this folder has a checkpoint from which an attempt resumes.
///
/// # Errors
/// An operation on the disk fails.
pub fn has_checkpoint(work: &WorkFolder) -> Result<bool, cwm_core::Error> {
    Ok(work.checkpoints()?.iter().any(|name| !name.ends_with(DAMAGED)))
}

/// `curves.jsonl, step-000000005000.safetensors`
fn list(names: &[String]) -> String {
    list_some(names, MAX_LISTED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwm_core::Key;
    use cwm_store::Store;

    fn stamp_of(binary: &str, device: &str) -> CheckpointStamp {
        CheckpointStamp { format: CheckpointStamp::FORMAT, binary: binary.into(), device: device.into() }
    }

    fn owner(work: &WorkFolder, code: &str) -> CheckpointOwner {
        CheckpointOwner { work: work.clone(), code: code.into() }
    }

    fn prepare(work: &WorkFolder, code: &str, device: &str) -> Result<(), ActionFailure> {
        owner(work, code).prepare(Some(device))
    }

    /// A work folder in which code `a` on the CPU kept these files.
    fn with_kept(files: &[&str]) -> (tempfile::TempDir, WorkFolder) {
        let folder = tempfile::tempdir().unwrap();
        let key: Key = "a".repeat(64).parse().unwrap();
        let work = Store::at(folder.path()).unwrap().work_folder(&key);
        work.prepare(1).unwrap();
        prepare(&work, "a", "cpu").unwrap();
        files.iter().for_each(|name| std::fs::write(work.checkpoint_folder().join(name), name).unwrap());
        (folder, work)
    }

    #[test]
    fn the_same_code_on_the_same_device_goes_on() {
        let (_folder, work) = with_kept(&["step"]);
        prepare(&work, "a", "cpu").unwrap();
        assert_eq!(work.checkpoints().unwrap(), ["step"]);
    }

    #[test]
    fn another_device_is_refused_in_words_and_nothing_is_lost() {
        let files = ["a", "b", "c", "d", "e", "f"];
        for (names, reported) in [(&files[..2], "kept a, b; "), (&files[..], "kept a, b, c, d and 2 more; ")] {
            let (_folder, work) = with_kept(names);
            let failure = prepare(&work, "a", "cuda").unwrap_err();
            assert!(failure.message.starts_with("an earlier attempt on the CPU "), "{failure:?}");
            assert!(failure.message.contains(reported) && failure.message.contains(" on a GPU "), "{failure:?}");
            let hint = failure.hint.unwrap();
            assert!(
                hint.contains("`--device cpu`") && hint.contains(&work.checkpoint_folder().display().to_string()),
                "{hint}"
            );
            assert_eq!(work.checkpoints().unwrap(), names);
            // And it is still that of the CPU.
            prepare(&work, "a", "cpu").unwrap();
            // What the hint says is enough.
            std::fs::remove_dir_all(work.checkpoint_folder()).unwrap();
            work.prepare(1).unwrap();
            prepare(&work, "a", "cuda").unwrap();
            std::fs::write(work.checkpoint_folder().join("a"), "").unwrap();
            let failure = prepare(&work, "a", "cpu").unwrap_err();
            assert!(failure.hint.unwrap().starts_with("`--device cuda:0` resumes"));
        }
    }

    #[test]
    fn gpus_of_two_kinds_are_two_devices() {
        let (_folder, work) = with_kept(&[]);
        prepare(&work, "a", "wgpu:1, some GPU").unwrap();
        std::fs::write(work.checkpoint_folder().join("step"), "").unwrap();
        prepare(&work, "a", "wgpu:0, another GPU").unwrap();
        let failure = prepare(&work, "a", "cuda:0, some GPU").unwrap_err();
        assert!(failure.message.starts_with("an earlier attempt on a GPU (wgpu) kept step; "), "{failure:?}");
        assert!(failure.hint.unwrap().starts_with("`--device wgpu:0` resumes"));
    }

    #[test]
    fn where_nothing_was_kept_any_device_will_do() {
        let (_folder, work) = with_kept(&[]);
        prepare(&work, "a", "cuda").unwrap();
        assert_eq!(work.read_stamp().unwrap(), Some(stamp_of("a", "cuda")));
    }

    #[test]
    fn what_fell_back_to_the_processor_is_the_processors() {
        // A GPU was granted, and could not be used.
        let folder = tempfile::tempdir().unwrap();
        let work = Store::at(folder.path()).unwrap().work_folder(&"a".repeat(64).parse().unwrap());
        work.prepare(1).unwrap();
        let granted = owner(&work, "a");
        for _ in 0..2 {
            // And once more, when something was kept.
            granted.prepare(None).unwrap();
            granted.prepare(Some("cpu")).unwrap();
            assert_eq!(work.read_stamp().unwrap(), Some(stamp_of("a", "cpu")));
            std::fs::write(work.checkpoint_folder().join("step"), "").unwrap();
        }
        // Now the GPU works: what the CPU kept is not gone on with, and stays.
        granted.prepare(None).unwrap();
        let failure = granted.prepare(Some("cuda:0, some GPU")).unwrap_err();
        assert!(failure.message.starts_with("an earlier attempt on the CPU "), "{failure:?}");
        assert_eq!(work.checkpoints().unwrap(), ["step"]);
        // Without any, it goes on.
        prepare(&work, "a", "cpu").unwrap();
        // What other code kept goes before it is certain.
        owner(&work, "b").prepare(None).unwrap();
        assert!(work.checkpoints().unwrap().is_empty());
    }

    #[test]
    fn what_other_code_kept_is_forgotten() {
        let (_folder, work) = with_kept(&["step"]);
        prepare(&work, "b", "cuda").unwrap();
        assert!(work.checkpoints().unwrap().is_empty());
        assert_eq!(work.read_stamp().unwrap(), Some(stamp_of("b", "cuda")));
    }

    #[test]
    fn what_was_set_aside_is_nothing_to_go_on_from() {
        let (_folder, work) = with_kept(&["curves.jsonl.damaged", "step.damaged"]);
        assert!(!has_checkpoint(&work).unwrap());
        std::fs::write(work.checkpoint_folder().join("step"), "").unwrap();
        assert!(has_checkpoint(&work).unwrap());
    }

    #[test]
    fn a_stamp_that_cannot_be_read_loses_nothing() {
        let (_folder, work) = with_kept(&["step"]);
        std::fs::write(work.checkpoint_folder().join(".stamp"), "{").unwrap();
        let failure = prepare(&work, "a", "cpu").unwrap_err();
        assert!(
            failure.message.contains("checkpoints step of an earlier attempt have no readable stamp"),
            "{failure:?}"
        );
        assert_eq!(work.checkpoints().unwrap(), ["step"]);
    }
}
