//! Decides if an attempt may resume from the checkpoints of an earlier one.

use std::io::Write;
use std::sync::{Arc, Mutex};

use cwm_contract::{Cancellation, DeviceChoice, Resources};

use super::protocol::{ActionFailure, ActionFailureKind};
use super::{ActionBody, ActionFile};
use cwm_core::{Registry, list_some};
use cwm_store::{CheckpointStamp, WorkFolder};

/// The number of checkpoints that are listed; of more, only their number.
const MAX_LISTED: usize = 4;

/// The ending of a checkpoint that a stage found damaged and set aside: no attempt resumes from it.
const DAMAGED: &str = ".damaged";

/// The writer of `keep/` in an attempt. Its device may be uncertain until the stage reports it.
#[derive(Clone)]
pub struct CheckpointOwner {
    stamp: CheckpointStamp,
    is_certain: bool,
}

/// Returns the owner of the checkpoints of this attempt, as far as it is known before the start.
pub fn owner(registry: &Registry, action: &ActionFile) -> CheckpointOwner {
    let computes = match &action.body {
        ActionBody::Stage { .. } => registry.get(&action.components.kind).is_some_and(|stage| stage.uses_devices()),
        ActionBody::Command { .. } => false,
    };
    let (device, is_certain) =
        if computes { device(registry, &action.resources) } else { (CheckpointStamp::PROCESSOR, true) };
    let binary = action.components.code.get("base").cloned().unwrap_or_default();
    CheckpointOwner {
        stamp: CheckpointStamp { format: CheckpointStamp::FORMAT, binary, device: device.to_owned() },
        is_certain,
    }
}

/// Returns the kind of device that it will compute on, and true if that is certain: a granted GPU may turn out unusable.
fn device(registry: &Registry, resources: &Resources) -> (&'static str, bool) {
    match resources.device {
        DeviceChoice::Cpu => (CheckpointStamp::PROCESSOR, true),
        DeviceChoice::Cuda(_) => (CheckpointStamp::GPU, true),
        DeviceChoice::Auto if registry.has_gpu_support && !resources.devices.is_empty() => {
            (CheckpointStamp::GPU, false)
        }
        DeviceChoice::Auto => (CheckpointStamp::PROCESSOR, true),
    }
}

impl CheckpointOwner {
    /// Returns the owner on the device that the stage reported: `cpu`, or a GPU and its name.
    pub fn on(&self, reported: &str) -> CheckpointOwner {
        let device =
            if reported == CheckpointStamp::PROCESSOR { CheckpointStamp::PROCESSOR } else { CheckpointStamp::GPU };
        CheckpointOwner { stamp: CheckpointStamp { device: device.to_owned(), ..self.stamp.clone() }, is_certain: true }
    }
}

/// Prepares `keep/` for an attempt; once more when its device is certain. Checkpoints of other code are deleted, with a line in
/// the log. Checkpoints of another device are not touched: the refusal has the option that resumes from them, and the folder to
/// delete to start again.
///
/// # Errors
/// They are of another device, or the disk refuses.
pub fn prepare(work: &WorkFolder, owner: &CheckpointOwner) -> Result<(), ActionFailure> {
    let CheckpointOwner { stamp, is_certain } = owner;
    let folder = work.keep();
    let kept = work.checkpoints()?;
    let found = match work.read_stamp() {
        Ok(found) => found,
        Err(error) if !kept.is_empty() => {
            let what = format!("an earlier attempt kept {}, and their code is not known", list_kept(&kept));
            let hint = format!("delete {} to start again", folder.display());
            return Err(ActionFailure::new(ActionFailureKind::Input, format!("{what}: {error}")).hint(hint));
        }
        Err(_) => None,
    };
    match found {
        Some(found) if found == *stamp => return Ok(()),
        Some(found) if (found.format, &found.binary) != (stamp.format, &stamp.binary) => {
            let (kept, folder) = (list_kept(&kept), folder.display());
            let _ = writeln!(
                std::io::stderr(),
                "other code kept {kept} in {folder}: it is deleted, and the stage starts again"
            );
            work.remove_checkpoints()?;
        }
        Some(_) if !kept.is_empty() && !is_certain => return Ok(()),
        Some(found) if !kept.is_empty() => return Err(refusal(work, &found, stamp, &kept)),
        _ => {}
    }
    Ok(work.write_stamp(stamp)?)
}

/// Compares the checkpoints with the device that the stage reports. If they do not fit, the stage is stopped, as on request,
/// before it resumes from them; the reason is left in `refused`.
pub fn device_check(
    registry: &Registry,
    work: &WorkFolder,
    action: &ActionFile,
    cancellation: &Cancellation,
    refused: Arc<Mutex<Option<ActionFailure>>>,
) -> Box<dyn Fn(&str) + Send + Sync> {
    let (work, owner, cancellation) = (work.clone(), owner(registry, action), cancellation.clone());
    Box::new(move |device| {
        if let Err(failure) = prepare(&work, &owner.on(device)) {
            *refused.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(failure);
            cancellation.cancel();
        }
    })
}

fn refusal(work: &WorkFolder, found: &CheckpointStamp, stamp: &CheckpointStamp, kept: &[String]) -> ActionFailure {
    let name = |stamp: &CheckpointStamp| if stamp.device == CheckpointStamp::GPU { "a GPU" } else { "the processor" };
    let (then, now, kept, folder) = (name(found), name(stamp), list_kept(kept), work.keep());
    let option = if found.device == CheckpointStamp::GPU { "cuda:0" } else { "cpu" };
    let problem = format!(
        "an earlier attempt on {then} kept {kept}; to resume from there on {now} would give what neither gives"
    );
    ActionFailure::new(ActionFailureKind::Input, problem)
        .hint(format!("`--device {option}` resumes from there; to start again on {now}, delete {}", folder.display()))
}

/// Returns the names in `keep/` from which an attempt may resume.
pub fn usable(mut names: Vec<String>) -> Vec<String> {
    names.retain(|name| !name.ends_with(DAMAGED));
    names
}

/// `curves.jsonl, step-000000005000.safetensors`
pub fn list_kept(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { list_some(names, MAX_LISTED) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwm_core::Key;
    use cwm_store::Store;

    fn stamp_of(binary: &str, device: &str) -> CheckpointStamp {
        CheckpointStamp { format: CheckpointStamp::FORMAT, binary: binary.into(), device: device.into() }
    }

    fn owner_of(binary: &str, device: &str) -> CheckpointOwner {
        CheckpointOwner { stamp: stamp_of(binary, device), is_certain: true }
    }

    /// A work folder in which code `a` on the processor kept these files.
    fn with_kept(files: &[&str]) -> (tempfile::TempDir, WorkFolder) {
        let folder = tempfile::tempdir().unwrap();
        let key: Key = "a".repeat(64).parse().unwrap();
        let work = Store::at(folder.path()).unwrap().work(&key);
        work.prepare(1).unwrap();
        prepare(&work, &owner_of("a", "cpu")).unwrap();
        files.iter().for_each(|name| std::fs::write(work.keep().join(name), name).unwrap());
        (folder, work)
    }

    #[test]
    fn the_same_code_on_the_same_device_goes_on() {
        let (_folder, work) = with_kept(&["step"]);
        prepare(&work, &owner_of("a", "cpu")).unwrap();
        assert_eq!(work.checkpoints().unwrap(), ["step"]);
    }

    #[test]
    fn another_device_is_refused_in_words_and_nothing_is_lost() {
        let files = ["a", "b", "c", "d", "e", "f"];
        for (names, told) in [(&files[..2], "kept a, b; "), (&files[..], "kept a, b, c, d and 2 more; ")] {
            let (_folder, work) = with_kept(names);
            let failure = prepare(&work, &owner_of("a", "cuda")).unwrap_err();
            assert!(failure.message.starts_with("an earlier attempt on the processor "), "{failure:?}");
            assert!(failure.message.contains(told) && failure.message.contains(" on a GPU "), "{failure:?}");
            let hint = failure.hint.unwrap();
            assert!(hint.contains("`--device cpu`") && hint.contains(&work.keep().display().to_string()), "{hint}");
            assert_eq!(work.checkpoints().unwrap(), names);
            // And it is still that of the processor.
            prepare(&work, &owner_of("a", "cpu")).unwrap();
            // What the hint says is enough.
            std::fs::remove_dir_all(work.keep()).unwrap();
            work.prepare(1).unwrap();
            prepare(&work, &owner_of("a", "cuda")).unwrap();
            std::fs::write(work.keep().join("a"), "").unwrap();
            let failure = prepare(&work, &owner_of("a", "cpu")).unwrap_err();
            assert!(failure.hint.unwrap().starts_with("`--device cuda:0` resumes"));
        }
    }

    #[test]
    fn where_nothing_was_kept_any_device_will_do() {
        let (_folder, work) = with_kept(&[]);
        prepare(&work, &owner_of("a", "cuda")).unwrap();
        assert_eq!(work.read_stamp().unwrap(), Some(stamp_of("a", "cuda")));
    }

    #[test]
    fn what_fell_back_to_the_processor_is_the_processors() {
        // A GPU was granted, and could not be used.
        let granted = CheckpointOwner { is_certain: false, ..owner_of("a", "cuda") };
        let folder = tempfile::tempdir().unwrap();
        let work = Store::at(folder.path()).unwrap().work(&"a".repeat(64).parse().unwrap());
        work.prepare(1).unwrap();
        for _ in 0..2 {
            // And once more, when something was kept.
            prepare(&work, &granted).unwrap();
            prepare(&work, &granted.on("cpu")).unwrap();
            assert_eq!(work.read_stamp().unwrap(), Some(stamp_of("a", "cpu")));
            std::fs::write(work.keep().join("step"), "").unwrap();
        }
        // Now the GPU works: what the processor kept is not gone on with, and stays.
        prepare(&work, &granted).unwrap();
        let failure = prepare(&work, &granted.on("cuda:0, some GPU")).unwrap_err();
        assert!(failure.message.starts_with("an earlier attempt on the processor "), "{failure:?}");
        assert_eq!(work.checkpoints().unwrap(), ["step"]);
        // Without any, it goes on.
        prepare(&work, &owner_of("a", "cpu")).unwrap();
        // What other code kept goes before it is certain.
        prepare(&work, &CheckpointOwner { is_certain: false, ..owner_of("b", "cuda") }).unwrap();
        assert!(work.checkpoints().unwrap().is_empty());
    }

    #[test]
    fn what_other_code_kept_is_forgotten() {
        let (_folder, work) = with_kept(&["step"]);
        prepare(&work, &owner_of("b", "cuda")).unwrap();
        assert!(work.checkpoints().unwrap().is_empty());
        assert_eq!(work.read_stamp().unwrap(), Some(stamp_of("b", "cuda")));
    }

    #[test]
    fn what_was_set_aside_is_nothing_to_go_on_from() {
        let (_folder, work) = with_kept(&["curves.jsonl.damaged", "step.damaged"]);
        assert!(usable(work.checkpoints().unwrap()).is_empty());
        std::fs::write(work.keep().join("step"), "").unwrap();
        assert_eq!(usable(work.checkpoints().unwrap()), ["step"]);
    }

    #[test]
    fn a_stamp_that_cannot_be_read_loses_nothing() {
        let (_folder, work) = with_kept(&["step"]);
        std::fs::write(work.keep().join(".stamp"), "{").unwrap();
        let failure = prepare(&work, &owner_of("a", "cpu")).unwrap_err();
        assert!(failure.message.contains("kept step, and their code is not known"), "{failure:?}");
        assert_eq!(work.checkpoints().unwrap(), ["step"]);
    }
}
