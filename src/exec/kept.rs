//! Whether what an earlier attempt kept may be gone on from.

use std::io::Write;

use cwm_contract::{DeviceChoice, Failure, Resources};

use super::{ActionBody, ActionFile};
use crate::error::Error;
use crate::registry::Registry;
use crate::store::{KeepStamp, WorkFolder};

/// Names that are told before the rest is counted.
const TOLD: usize = 4;

/// What goes on from there writes now.
pub fn stamp(action: &ActionFile) -> KeepStamp {
    let computes = match &action.body {
        ActionBody::Stage { .. } => {
            Registry::built_in().get(&action.components.kind).is_some_and(|stage| stage.uses_devices())
        }
        ActionBody::Command { .. } => false,
    };
    KeepStamp {
        format: KeepStamp::FORMAT,
        binary: action.components.code.get("base").cloned().unwrap_or_default(),
        device: if computes && on_gpu(&action.resources) { KeepStamp::GPU } else { KeepStamp::PROCESSOR }.to_owned(),
    }
}

/// Whether it will compute on a GPU, as far as can be told before it starts.
fn on_gpu(resources: &Resources) -> bool {
    match resources.device {
        DeviceChoice::Cpu => false,
        DeviceChoice::Cuda(_) => true,
        DeviceChoice::Auto => cfg!(feature = "cuda") && !resources.devices.is_empty(),
    }
}

/// Makes `keep/` ready for whoever writes `stamp`. What other code kept is thrown away, and the log says what it was. What
/// was kept on another device is not touched: the refusal says how it is gone on from, and what to delete to begin anew.
///
/// # Errors
/// The disk refuses.
pub fn prepare(work: &WorkFolder, stamp: &KeepStamp) -> Result<Result<(), Failure>, Error> {
    let folder = work.keep();
    let kept = work.kept()?;
    let found = match work.read_stamp() {
        Ok(found) => found,
        Err(error) if !kept.is_empty() => {
            let what = format!("an earlier attempt kept {}, and which code it was of cannot be told", in_words(&kept));
            let hint = format!("delete {} to start again", folder.display());
            return Ok(Err(Failure::input(format!("{what}: {error}")).hint(hint)));
        }
        Err(_) => None,
    };
    match found {
        Some(found) if found == *stamp => return Ok(Ok(())),
        Some(found) if (found.format, &found.binary) != (stamp.format, &stamp.binary) => {
            let (kept, folder) = (in_words(&kept), folder.display());
            let words = format!("other code kept {kept} in {folder}: it is deleted, and the stage starts again");
            let _ = writeln!(std::io::stderr(), "{words}");
            work.forget_kept()?;
        }
        Some(found) if !kept.is_empty() => return Ok(Err(refusal(work, &found, stamp, &kept))),
        _ => {}
    }
    work.write_stamp(stamp)?;
    Ok(Ok(()))
}

fn refusal(work: &WorkFolder, found: &KeepStamp, stamp: &KeepStamp, kept: &[String]) -> Failure {
    let name = |stamp: &KeepStamp| if stamp.device == KeepStamp::GPU { "a GPU" } else { "the processor" };
    let (then, now, kept, folder) = (name(found), name(stamp), in_words(kept), work.keep());
    let option = if found.device == KeepStamp::GPU { "cuda:0" } else { "cpu" };
    Failure::input(format!(
        "an earlier attempt on {then} kept {kept}; going on from there on {now} would give what neither gives"
    ))
    .hint(format!("`--device {option}` goes on from there; to start again on {now}, delete {}", folder.display()))
}

/// `curves.jsonl, step-000000005000.safetensors`
fn in_words(names: &[String]) -> String {
    let told = names.iter().take(TOLD).cloned().collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => "nothing".to_owned(),
        count if count > TOLD => format!("{told} and {} more", count - TOLD),
        _ => told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Key;
    use crate::store::Store;

    fn stamp_of(binary: &str, device: &str) -> KeepStamp {
        KeepStamp { format: KeepStamp::FORMAT, binary: binary.into(), device: device.into() }
    }

    /// A work folder in which code `a` on the processor kept these files.
    fn with_kept(files: &[&str]) -> (tempfile::TempDir, WorkFolder) {
        let folder = tempfile::tempdir().unwrap();
        let key: Key = "a".repeat(64).parse().unwrap();
        let work = Store::at(folder.path()).unwrap().work(&key);
        work.prepare().unwrap();
        prepare(&work, &stamp_of("a", "cpu")).unwrap().unwrap();
        files.iter().for_each(|name| std::fs::write(work.keep().join(name), name).unwrap());
        (folder, work)
    }

    #[test]
    fn the_same_code_on_the_same_device_goes_on() {
        let (_folder, work) = with_kept(&["step"]);
        prepare(&work, &stamp_of("a", "cpu")).unwrap().unwrap();
        assert_eq!(work.kept().unwrap(), ["step"]);
    }

    #[test]
    fn another_device_is_refused_in_words_and_nothing_is_lost() {
        let files = ["a", "b", "c", "d", "e", "f"];
        for (names, told) in [(&files[..2], "kept a, b; "), (&files[..], "kept a, b, c, d and 2 more; ")] {
            let (_folder, work) = with_kept(names);
            let failure = prepare(&work, &stamp_of("a", "cuda")).unwrap().unwrap_err();
            assert!(failure.message.starts_with("an earlier attempt on the processor "), "{failure}");
            assert!(failure.message.contains(told) && failure.message.contains(" on a GPU "), "{failure}");
            let hint = failure.hint.unwrap();
            assert!(hint.contains("`--device cpu`") && hint.contains(&work.keep().display().to_string()), "{hint}");
            assert_eq!(work.kept().unwrap(), names);
            // And it is still that of the processor.
            prepare(&work, &stamp_of("a", "cpu")).unwrap().unwrap();
            // What the hint says is enough.
            std::fs::remove_dir_all(work.keep()).unwrap();
            work.prepare().unwrap();
            prepare(&work, &stamp_of("a", "cuda")).unwrap().unwrap();
            std::fs::write(work.keep().join("a"), "").unwrap();
            let failure = prepare(&work, &stamp_of("a", "cpu")).unwrap().unwrap_err();
            assert!(failure.hint.unwrap().starts_with("`--device cuda:0` goes on"));
        }
    }

    #[test]
    fn where_nothing_was_kept_any_device_will_do() {
        let (_folder, work) = with_kept(&[]);
        prepare(&work, &stamp_of("a", "cuda")).unwrap().unwrap();
        assert_eq!(work.read_stamp().unwrap(), Some(stamp_of("a", "cuda")));
    }

    #[test]
    fn what_other_code_kept_is_forgotten() {
        let (_folder, work) = with_kept(&["step"]);
        prepare(&work, &stamp_of("b", "cuda")).unwrap().unwrap();
        assert!(work.kept().unwrap().is_empty());
        assert_eq!(work.read_stamp().unwrap(), Some(stamp_of("b", "cuda")));
    }

    #[test]
    fn a_stamp_that_cannot_be_read_loses_nothing() {
        let (_folder, work) = with_kept(&["step"]);
        std::fs::write(work.keep().join(".stamp"), "{").unwrap();
        let failure = prepare(&work, &stamp_of("a", "cpu")).unwrap().unwrap_err();
        assert!(failure.message.contains("kept step, and which code it was of cannot be told"), "{failure}");
        assert_eq!(work.kept().unwrap(), ["step"]);
    }
}
