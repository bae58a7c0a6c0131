//! Reinforcement raises rewards; steps that break the weights are undone.

use cwm_contract::Value;
use cwm_policy_gradient::Objective;

use super::{curves, data, summary, text, trained, weights};

#[test]
fn each_objective_raises_the_mean_reward() {
    let data = data(320, 6.0);
    for objective in Objective::NAMES {
        let more = [
            ("objective", text(objective)),
            ("lr", Value::Float(2e-2)),
            ("batch_size", Value::Int(8)),
            ("rollouts", Value::Int(8)),
            ("mini_batch", Value::Int(4)),
            ("validation_every", Value::Int(1000)),
            ("checkpoint_every", Value::Int(1000)),
            ("micro_batch_tokens", Value::Int(1000)),
        ];
        let (work, _) = trained(data.path(), &more);
        let rewards: Vec<f64> =
            curves(work.path(), "reinforce").iter().map(|line| line["reward"].as_f64().unwrap()).collect();
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let (first, last) = (mean(&rewards[..5]), mean(&rewards[rewards.len() - 5..]));
        assert!(last > first + 0.1, "{objective}: {first} to {last}");
    }
}

#[test]
fn steps_that_break_the_weights_are_undone_and_after_twenty_the_training_has_diverged() {
    let data = data(96, 6.0);
    let more = [
        ("lr", Value::Float(1e38)),
        ("rollouts", Value::Int(8)),
        ("batch_size", Value::Int(4)),
        ("mini_batch", Value::Int(4)),
    ];
    let (work, outcome) = trained(data.path(), &more);
    let summary = summary(work.path());
    assert_eq!(summary["status"], "diverged", "{summary}");
    assert_eq!(summary["training"]["skipped"], 20);
    assert!(weights(&work.path().join("out/checkpoint")) == weights(&data.path().join("checkpoint")));
    let noted = outcome.events.iter().any(|event| format!("{event:?}").contains("diverged"));
    assert!(noted && curves(work.path(), "reinforce").len() >= 20);
}
