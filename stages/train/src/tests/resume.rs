//! Interrupted runs end as undisturbed ones.

use std::path::Path;

use cwm_contract::{Event, FailureKind};

use super::{data, run_until, written};

pub fn is_validated(event: &Event) -> bool {
    matches!(event, Event::Metric { name, .. } if name == "validation_loss")
}

fn is_validating(event: &Event) -> bool {
    matches!(event, Event::Activity(what) if what == "validating")
}

pub fn never(_: &Event) -> bool {
    false
}

#[test]
fn an_interrupted_run_ends_as_an_undisturbed_one() {
    let data = data();
    let undisturbed = tempfile::tempdir().unwrap();
    run_until(undisturbed.path(), data.path(), never, 1).unwrap();
    for (on, after) in
        [(is_validated as fn(&Event) -> bool, 1), (is_validated, 4), (is_validating, 2), (is_validating, 6)]
    {
        let work = tempfile::tempdir().unwrap();
        let failure = run_until(work.path(), data.path(), on, after).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Cancelled);
        assert!(!work.path().join("out/curves.jsonl").exists());
        run_until(work.path(), data.path(), never, 1).unwrap();
        assert!(written(work.path()) == written(undisturbed.path()), "stopped {after}");
    }
}

#[test]
fn a_run_continues_from_an_older_checkpoint_after_a_kill() {
    let data = data();
    let undisturbed = tempfile::tempdir().unwrap();
    run_until(undisturbed.path(), data.path(), never, 1).unwrap();
    // A killed process leaves its last checkpoints and more lines of curves than they know of.
    let kept = |work: &Path| -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(work.join("checkpoints"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(
        kept(undisturbed.path()),
        ["curves.jsonl", "step-000000000004.safetensors", "step-000000000008.safetensors"]
    );
    let first = written(undisturbed.path());
    run_until(undisturbed.path(), data.path(), never, 1).unwrap();
    assert!(written(undisturbed.path()) == first);
    // The newer of the two is damaged: the older one serves.
    std::fs::write(undisturbed.path().join("checkpoints/step-000000000008.safetensors"), b"torn").unwrap();
    run_until(undisturbed.path(), data.path(), never, 1).unwrap();
    assert!(written(undisturbed.path()) == first);
}

#[test]
fn a_kill_in_the_middle_of_a_checkpoint_loses_that_one_alone() {
    let data = data();
    let undisturbed = tempfile::tempdir().unwrap();
    run_until(undisturbed.path(), data.path(), never, 1).unwrap();
    let whole = std::fs::read(undisturbed.path().join("checkpoints/step-000000000008.safetensors")).unwrap();
    // Whatever part of the newer one was written when it happened, and before or after its name was given.
    for (name, written_so_far) in [
        ("writing.tmp", 0),
        ("writing.tmp", 100),
        ("writing.tmp", whole.len()),
        ("step-000000000008.safetensors", 0),
        ("step-000000000008.safetensors", 7),
        ("step-000000000008.safetensors", 300),
        ("step-000000000008.safetensors", whole.len() - 1),
    ] {
        let work = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(work.path().join("checkpoints")).unwrap();
        for kept in ["curves.jsonl", "step-000000000004.safetensors"] {
            let from = undisturbed.path().join("checkpoints").join(kept);
            std::fs::copy(from, work.path().join("checkpoints").join(kept)).unwrap();
        }
        std::fs::write(work.path().join("checkpoints").join(name), &whole[..written_so_far]).unwrap();
        run_until(work.path(), data.path(), never, 1).unwrap();
        assert!(written(work.path()) == written(undisturbed.path()), "{name} of {written_so_far} bytes");
    }
}
