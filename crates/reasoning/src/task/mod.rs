//! The four tasks whose answers can be verified, and their items.

mod build;
mod wording;

use std::fmt;

use crate::board::BoardForm;

pub use build::build_item;

/// The category of the four tasks.
pub const CATEGORY: &str = "Reasoning";

/// A task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReasoningTask {
    /// A good move.
    PredictMove,
    /// The best of some candidates.
    BestMove,
    /// The worst of some candidates.
    WorstMove,
    /// All legal moves of a piece.
    LegalMoves,
}

impl ReasoningTask {
    /// All four.
    pub const ALL: [ReasoningTask; 4] =
        [ReasoningTask::PredictMove, ReasoningTask::BestMove, ReasoningTask::WorstMove, ReasoningTask::LegalMoves];

    /// The name in items and pipelines.
    pub fn name(self) -> &'static str {
        match self {
            ReasoningTask::PredictMove => "reasoning_predict_move",
            ReasoningTask::BestMove => "reasoning_best_move",
            ReasoningTask::WorstMove => "reasoning_worst_move",
            ReasoningTask::LegalMoves => "reasoning_legal_moves",
        }
    }

    /// The task of this name.
    pub fn of_name(name: &str) -> Option<ReasoningTask> {
        ReasoningTask::ALL.into_iter().find(|task| task.name() == name)
    }

    /// Returns true if the answer is a list of moves, and not one move.
    pub fn wants_a_list(self) -> bool {
        self == ReasoningTask::LegalMoves
    }
}

impl fmt::Display for ReasoningTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The options of items; the default is the published way.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskOptions {
    /// The form in which the position is written.
    pub board: BoardForm,
    /// Candidates other than the answer are worse (better, if the worst is wanted) than it by more than this win probability.
    pub threshold: f64,
    /// The number of candidates, with the answer.
    pub candidates: usize,
    /// The fewest legal moves of a position in which a good move is wanted.
    pub min_moves: usize,
    /// The fewest legal moves of a piece whose moves are wanted.
    pub legal_min: usize,
}

impl Default for TaskOptions {
    fn default() -> Self {
        TaskOptions { board: BoardForm::Visual, threshold: 0.2, candidates: 5, min_moves: 3, legal_min: 3 }
    }
}

#[cfg(test)]
mod tests;
