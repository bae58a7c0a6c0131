//! Counts of answers: a line of the curves.

use std::collections::BTreeMap;

use cwm_training::Metrics;
use cwm_training::curves::number;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::rollouts::{Group, Rollout};

/// A sum, and how many numbers are in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Mean {
    sum: f64,
    count: u64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    fn value(self) -> f64 {
        self.sum / self.count.max(1) as f64
    }
}

/// Counts of answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    rewards: BTreeMap<String, Mean>,
    scores: BTreeMap<String, Mean>,
    verdicts: BTreeMap<String, u64>,
    words: Mean,
    #[serde(rename = "clipped")]
    truncated: u64,
}

impl Outcome {
    /// Counts the answers of a group.
    pub fn add(&mut self, group: &Group<'_>) {
        let task = group.question.verifier.task().name();
        for rollout in &group.rollouts {
            let Rollout { words, judgement, .. } = rollout;
            self.rewards.entry(task.to_owned()).or_default().add(judgement.reward);
            if let Some(score) = judgement.score {
                self.scores.entry(task.to_owned()).or_default().add(score);
            }
            *self.verdicts.entry(judgement.verdict.name().to_owned()).or_default() += 1;
            self.words.add(words.len() as f64);
            self.truncated += u64::from(rollout.is_truncated());
        }
    }

    /// Mean reward of all answers.
    pub fn reward(&self) -> f64 {
        let sum: f64 = self.rewards.values().map(|mean| mean.sum).sum();
        sum / self.words.count.max(1) as f64
    }

    /// The entries that lines of training and validation have in common.
    pub fn common_entries(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("reward", number(self.reward())),
            ("reward_by_task", by_task(&self.rewards)),
            ("verdicts", json!(self.verdicts)),
            ("length", number(self.words.value())),
            ("clipped", number(self.truncated as f64 / self.words.count.max(1) as f64)),
        ]
    }
}

fn by_task(means: &BTreeMap<String, Mean>) -> Value {
    means.iter().map(|(task, mean)| (task.clone(), number(mean.value()))).collect::<Map<_, _>>().into()
}

impl Metrics for Outcome {
    type SavedMetrics = (u64, Outcome);

    /// The mean reward, negated.
    fn loss(&self) -> f64 {
        -self.reward()
    }

    fn entries(&self) -> Vec<(&'static str, Value)> {
        let mut entries = self.common_entries();
        entries.push(("score_by_task", by_task(&self.scores)));
        entries
    }

    fn progress(&self) -> Vec<(&'static str, f64)> {
        vec![("reward", self.reward())]
    }

    fn save(&self, step: u64) -> (u64, Outcome) {
        (step, self.clone())
    }

    fn restore(saved: (u64, Outcome)) -> (u64, Self) {
        saved
    }
}
