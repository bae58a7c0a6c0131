//! Reads the answer in the text of a model.
//!
//! - `extraction`: the text of the answer by the published rule, to the letter.
//! - `final_answer`, `markup`: the same as a person finds it, without what surrounds it.
//! - `answer`: the meaning of that text, by the form of the answer. `moves`, `pieces`, `fen`: the forms with rules of
//!   their own.

mod answer;
mod extraction;
mod fen;
mod final_answer;
mod markup;
mod moves;
mod pieces;
mod white_space;

pub use answer::{Answer, is_none, read_answer};
pub use extraction::extract;
pub use final_answer::final_answer;
pub use white_space::{is_space, strip};

#[cfg(test)]
mod tests;
