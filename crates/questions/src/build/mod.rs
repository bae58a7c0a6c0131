//! Items from puzzles, games and evaluations: rows are read one after another, and each task takes what it needs of them.
//!
//! - `puzzles`, `evaluations`: readers of rows. `picker`: which rows become items of which task.
//! - `positions`, `tracking`, `tactics`, `judgement`: the item that a task makes of a row.

mod draft;
mod evaluations;
mod judgement;
mod picker;
mod positions;
mod puzzles;
mod tactics;
mod tracking;

pub use evaluations::{EvaluatedPosition, EvaluationReader, SkipReason, four_fields};
pub use judgement::Judgement;
pub use picker::{Order, Picker, TaskCount};
pub use positions::{Origin, Positions};
pub use puzzles::{Puzzle, PuzzleFault, PuzzleReader};
pub use tactics::Tactics;
pub use tracking::StateTracking;

#[cfg(test)]
mod tests;
