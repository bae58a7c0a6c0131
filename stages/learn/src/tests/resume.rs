//! Interrupted runs end as undisturbed ones.

use std::path::Path;

use cwm_contract::Value;
use cwm_contract::testing::Trial;

use super::{data, text, trained, trial, written};
use crate::Learn;

/// The files that a killed process leaves: its last checkpoints, and more lines of curves than they cover.
fn killed_after(step: u64, undisturbed: &Path) -> tempfile::TempDir {
    let work = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(work.path().join("checkpoints")).unwrap();
    for kept in ["curves.jsonl", &format!("step-{step:012}.safetensors")] {
        std::fs::copy(undisturbed.join("checkpoints").join(kept), work.path().join("checkpoints").join(kept)).unwrap();
    }
    work
}

#[test]
fn a_killed_run_ends_as_an_undisturbed_one() {
    let data = data();
    for more in [vec![], vec![("checkpoint", text("best")), ("lr", Value::Float(0.3)), ("batching", text("bucketed"))]]
    {
        let undisturbed = trained(data.path(), &more);
        for step in [4, 8] {
            let work = killed_after(step, undisturbed.path());
            let outcome = trial(work.path(), data.path(), &more).run(&Learn).unwrap();
            let resumed = outcome.events.iter().any(|event| {
                matches!(event, cwm_contract::Event::Log(line) if line == &format!("resuming after step {step} of 9"))
            });
            assert!(resumed && written(work.path()) == written(undisturbed.path()), "killed after step {step}");
        }
    }
}

#[test]
fn the_best_needs_a_validation_set() {
    let (data, work) = (data(), tempfile::tempdir().unwrap());
    let alone = || Trial::new(work.path()).input("train", data.path().join("train")).with("size", text("d16/l1"));
    alone().run(&Learn).unwrap();
    let failure = alone().with("checkpoint", text("best")).run(&Learn).map(|_| ()).unwrap_err();
    assert!(failure.message.contains("`checkpoint: best` needs the input `validation`"), "{failure}");
}
