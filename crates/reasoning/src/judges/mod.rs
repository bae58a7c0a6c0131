//! Tasks in which a language model judges another one's output: the quality of its thinking, its strategies, and its
//! claims.
//!
//! - `item`: an item about an output. `judge_scores`: reads a judge's answer.

mod item;
mod judge_scores;

use std::fmt;

pub use item::{JudgedOutput, judge_item};
pub use judge_scores::{JudgeReader, JudgeScores};

/// The category of these tasks.
pub const JUDGES: &str = "Judges";

/// A task of a judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JudgeTask {
    /// Points for efficacy, efficiency and faithfulness.
    Quality,
    /// The strategies of the thinking, out of six.
    Strategies,
    /// The moves and pieces that the thinking names.
    Claims,
}

impl JudgeTask {
    /// All three.
    pub const ALL: [JudgeTask; 3] = [JudgeTask::Quality, JudgeTask::Strategies, JudgeTask::Claims];

    /// The name in items and pipelines.
    pub fn name(self) -> &'static str {
        match self {
            JudgeTask::Quality => "judge_quality",
            JudgeTask::Strategies => "judge_strategies",
            JudgeTask::Claims => "judge_claims",
        }
    }

    /// The task of this name.
    pub fn of_name(name: &str) -> Option<JudgeTask> {
        JudgeTask::ALL.into_iter().find(|task| task.name() == name)
    }
}

impl fmt::Display for JudgeTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests;
