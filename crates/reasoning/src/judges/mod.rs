//! Tasks that ask a language model to judge what another one wrote: how good its thinking is, which strategies it has, and what it
//! claims.
//!
//! - `item`: an item about an output. `opinion`: a judge's answer, and how it is read.

mod item;
mod opinion;

use std::fmt;

pub use item::{JudgedOutput, judge_item};
pub use opinion::{JudgeReader, Opinion};

/// The category of these tasks.
pub const JUDGES: &str = "Judges";

/// A task of a judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JudgeTask {
    /// Points for efficacy, efficiency and faithfulness.
    Quality,
    /// Which of six strategies the thinking has.
    Strategies,
    /// Which moves and pieces the thinking names.
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
