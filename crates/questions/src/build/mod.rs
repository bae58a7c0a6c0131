//! Items from puzzles, games, evaluations and comments: rows are read one after another, and each task takes what it needs of them.
//!
//! - `puzzles`, `evaluations`: readers of rows. `picker`: the choice of rows for each task.
//! - `positions`, `tracking`, `tactics`, `judgement`: the item that a task makes of a row.
//! - `semantic`: the items about comments. `lexical`: the similarity of comments by their words.

mod draft;
mod evaluations;
mod judgement;
mod lexical;
mod picker;
mod positions;
mod puzzles;
mod semantic;
mod tactics;
mod tracking;

pub use evaluations::{EvaluatedPosition, EvaluationDropReason, EvaluationReader, PositionId, four_fields};
pub use judgement::PositionJudgement;
pub use picker::{Order, Picker, TaskCount};
pub use positions::{Origin, Positions};
pub use puzzles::{Puzzle, PuzzleDropReason, PuzzleReader};
pub use semantic::semantic;
pub use tactics::Tactics;
pub use tracking::StateTracking;

#[cfg(test)]
mod tests;
