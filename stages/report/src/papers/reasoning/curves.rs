//! Reads the curves of reinforcement learning.

use std::collections::BTreeMap;

use cwm_contract::{Failure, GroupInput, Label};
use serde::Deserialize;

use super::measured::experiment_of;
use crate::papers::json_lines;

/// The curves of one training. A point is a step and a value.
pub(super) struct Curve {
    /// The name of the experiment.
    pub(super) name: String,
    /// Mean reward of the rollouts of each step.
    pub(super) reward: Vec<(u64, f64)>,
    /// Mean reward by task.
    pub(super) by_task: BTreeMap<String, Vec<(u64, f64)>>,
    /// Mean length of the rollouts in tokens.
    pub(super) length: Vec<(u64, f64)>,
    /// Mean reward on validation items, from which nothing is learned, by task.
    pub(super) validation: BTreeMap<String, Vec<(u64, f64)>>,
}

/// A line; those of fine-tuning have no reward.
#[derive(Deserialize)]
struct Line {
    kind: String,
    step: u64,
    #[serde(default, deserialize_with = "json_lines::number")]
    reward: Option<f64>,
    #[serde(default)]
    reward_by_task: BTreeMap<String, f64>,
    #[serde(default, deserialize_with = "json_lines::number")]
    length: Option<f64>,
}

/// The curves of reinforcement learning among these, in the order of their names.
///
/// # Errors
/// A file cannot be read, or one of its lines cannot be understood.
pub(super) fn read(inputs: &[GroupInput]) -> Result<Vec<Curve>, Failure> {
    let mut curves = Vec::new();
    for (label, lines) in json_lines::read::<Line>("curves", inputs)? {
        let label = label.parse::<Label>().unwrap_or_else(|_| Label::stage(&label));
        let mut curve = Curve {
            name: experiment_of(&label),
            reward: Vec::new(),
            by_task: BTreeMap::new(),
            length: Vec::new(),
            validation: BTreeMap::new(),
        };
        for line in lines {
            let by_task = match line.kind.as_str() {
                "reinforce" => {
                    curve.reward.extend(line.reward.map(|reward| (line.step, reward)));
                    curve.length.extend(line.length.map(|length| (line.step, length)));
                    &mut curve.by_task
                }
                "validation" => &mut curve.validation,
                _ => continue,
            };
            for (task, reward) in line.reward_by_task {
                by_task.entry(task).or_default().push((line.step, reward));
            }
        }
        if !curve.reward.is_empty() {
            curves.push(curve);
        }
    }
    curves.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(curves)
}
