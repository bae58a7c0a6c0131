//! The outputs: curves, answers, the description.

use std::collections::BTreeSet;

use cwm_answers::AnswersReader;
use cwm_contract::{Value, Values, testing};
use cwm_policy_gradient::Objective;
use cwm_training::order::{Order, Sampler};

use super::{curves, data, summary, text, trained, weights};
use crate::Reinforce;

#[test]
fn each_step_has_a_line_with_its_rewards_and_a_validation_follows_every_second_one() {
    let data = data(12, 6.0);
    let (work, _) = trained(data.path(), &[]);
    let steps = curves(work.path(), "reinforce");
    assert_eq!(steps.len(), 3, "12 items in batches of 4");
    let text = std::fs::read_to_string(work.path().join("out/curves.jsonl")).unwrap();
    let keys = [
        "kind",
        "step",
        "reward",
        "reward_by_task",
        "verdicts",
        "length",
        "clipped",
        "entropy",
        "gradient_norm",
        "learning_rate",
        "groups_without_signal",
    ];
    let places: Vec<usize> = keys.iter().map(|key| text.find(&format!("\"{key}\":")).unwrap()).collect();
    assert!(places.is_sorted(), "{text}");
    for line in &steps {
        let verdicts: u64 = line["verdicts"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(verdicts, 16, "4 items, 4 answers to each");
        assert!((-0.5..=1.0).contains(&line["reward"].as_f64().unwrap()), "{line}");
        assert!((1.0..=6.0).contains(&line["length"].as_f64().unwrap()), "{line}");
        assert!((0.0..=1.0).contains(&line["clipped"].as_f64().unwrap()), "{line}");
        assert!((0.0..=5.1).contains(&line["entropy"].as_f64().unwrap()), "below the logarithm of the words: {line}");
        assert!(line["groups_without_signal"].as_u64().unwrap() <= 4 && line["learning_rate"] == 1e-2, "{line}");
    }
    let validations = curves(work.path(), "validation");
    assert_eq!(validations.iter().map(|line| line["step"].as_u64().unwrap()).collect::<Vec<_>>(), [2, 3]);
    let summary = summary(work.path());
    assert_eq!(summary["training"]["validation"]["reward"], validations[1]["reward"]);
    assert_eq!(summary["training"]["steps"], 3);
    assert_eq!(summary["training"]["start"]["vocabulary"], summary["training"]["vocabulary"]);
}

#[test]
fn kept_answers_are_from_all_steps_and_to_different_items() {
    let data = data(24, 6.0);
    let (work, _) = trained(data.path(), &[]);
    let rows: Vec<_> =
        AnswersReader::open(&work.path().join("out/answers.parquet")).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 7);
    assert_eq!(rows.iter().map(|row| row.task_id.as_str()).collect::<BTreeSet<_>>().len(), 7);
    for row in &rows {
        let (words, is_truncated) = (row.completion_tokens.unwrap(), row.finish.as_deref() == Some("length"));
        assert!(row.response.is_some() && words <= 6 && (!is_truncated || words == 6), "{row:?}");
    }
    let mut sampler = Sampler::new(24, 4, Order::Shuffled { seed: 0 });
    for step in 0..6 {
        let mut asked = sampler.batch(step).into_iter().map(|place| format!("reasoning_predict_move_{place:04}"));
        assert!(asked.any(|task_id| rows.iter().any(|row| row.task_id == task_id)), "step {step}");
    }
    let (work, _) = trained(data.path(), &[("keep_answers", Value::Int(0))]);
    assert_eq!(AnswersReader::open(&work.path().join("out/answers.parquet")).unwrap().count(), 0);
}

#[test]
fn a_learning_rate_of_nothing_changes_no_bit_of_the_weights() {
    let data = data(12, 6.0);
    let (work, _) = trained(data.path(), &[("lr", Value::Float(0.0))]);
    assert!(weights(&work.path().join("out/checkpoint")) == weights(&data.path().join("checkpoint")));
    assert!(summary(work.path())["training"]["updates"].as_u64().unwrap() > 0);
    let (work, _) = trained(data.path(), &[]);
    assert!(weights(&work.path().join("out/checkpoint")) != weights(&data.path().join("checkpoint")));
}

#[test]
fn steps_without_different_rewards_make_no_update_and_the_curves_show_it() {
    // No answer of this model has answer tags.
    let data = data(12, 9.0);
    let (work, _) = trained(data.path(), &[("reading", text("release"))]);
    assert!(weights(&work.path().join("out/checkpoint")) == weights(&data.path().join("checkpoint")));
    for line in curves(work.path(), "reinforce") {
        assert_eq!(
            (line["groups_without_signal"].as_u64(), line["gradient_norm"].is_null()),
            (Some(4), true),
            "{line}"
        );
    }
    let training = &summary(work.path())["training"];
    assert_eq!((training["updates"].as_u64(), training["skipped"].as_u64()), (Some(0), Some(0)));
}

#[test]
fn the_probe_runs_to_the_end_with_each_objective_and_is_the_same_twice() {
    let probe = || {
        let folder = tempfile::tempdir().unwrap();
        testing::probe(&Reinforce, Values::new(), folder.path()).unwrap().unwrap()
    };
    let probed = probe();
    assert!(!probed.keys().any(|name| name.ends_with("refused")), "{:?}", probed.keys());
    let weights = |run: &str| &probed[&format!("{run}/checkpoint/model.safetensors")];
    let different: BTreeSet<_> = ["own"].iter().chain(Objective::NAMES).map(|run| weights(run)).collect();
    assert_eq!(different.len(), 4);
    let guarded: serde_json::Value = serde_json::from_slice(&probed["guarded/summary"]).unwrap();
    assert!(guarded["training"]["skipped"].as_u64().unwrap() > 0, "{guarded}");
    assert!(probe() == probed);
}
