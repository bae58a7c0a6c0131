//! Interrupted runs end as undisturbed ones.

use std::time::{Duration, Instant};

use cwm_contract::{Cancellation, Event, Value};

use super::{data, text, trained, trial, written};
use crate::Reinforce;

#[test]
fn a_run_that_is_cancelled_after_some_steps_and_resumed_ends_as_an_undisturbed_one() {
    let data = data(32, 6.0);
    for (steps, more) in [(2, vec![]), (5, vec![("kl", Value::Float(0.1)), ("objective", text("dapo"))])] {
        let (undisturbed, _) = trained(data.path(), &more);
        let work = tempfile::tempdir().unwrap();
        let (cancellation, curves) = (Cancellation::default(), work.path().join("checkpoints/curves.jsonl"));
        let failure = std::thread::scope(|scope| {
            scope.spawn(|| {
                let lines = || std::fs::read_to_string(&curves).map_or(0, |text| text.lines().count());
                // A run that fails is not waited for.
                let begun = Instant::now();
                while lines() < steps && begun.elapsed() < Duration::from_secs(120) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                cancellation.cancel();
            });
            trial(work.path(), data.path(), &more).run_until(&Reinforce, cancellation.clone()).map(|_| ()).unwrap_err()
        });
        assert_eq!(failure.kind, cwm_contract::FailureKind::Cancelled, "{failure}");
        let outcome = trial(work.path(), data.path(), &more).cores(1).run(&Reinforce).unwrap();
        let is_resumed = |event: &Event| matches!(event, Event::Log(line) if line.starts_with("resuming after step "));
        assert!(outcome.events.iter().any(is_resumed));
        assert!(written(work.path()) == written(undisturbed.path()), "cancelled after {steps} lines");
    }
}

#[test]
fn a_killed_run_ends_as_an_undisturbed_one() {
    let data = data(16, 6.0);
    let (undisturbed, _) = trained(data.path(), &[]);
    // What a killed process leaves: a checkpoint, and more lines and answers than it knows of.
    let work = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(work.path().join("checkpoints")).unwrap();
    for kept in ["curves.jsonl", "answers.jsonl", "step-000000000002.safetensors"] {
        std::fs::copy(undisturbed.path().join("checkpoints").join(kept), work.path().join("checkpoints").join(kept))
            .unwrap();
    }
    trial(work.path(), data.path(), &[]).run(&Reinforce).unwrap();
    assert!(written(work.path()) == written(undisturbed.path()));
}

#[test]
fn one_and_two_threads_write_the_same_bytes() {
    let data = data(12, 6.0);
    let (two, _) = trained(data.path(), &[]);
    let work = tempfile::tempdir().unwrap();
    trial(work.path(), data.path(), &[]).cores(1).run(&Reinforce).unwrap();
    assert!(written(work.path()) == written(two.path()));
}
