//! *Reasoning through chess*: positions as text, values of moves, system messages, and the examples that models are fine-tuned on.
//!
//! This crate must not know engines, models, tokens, or files of answers.

pub mod board;
mod direct;
mod draws;
mod example;
mod facts;
mod lines;
mod mixing;
mod pieces;
mod search;
pub mod shares;
pub mod texts;
pub mod values;

pub use direct::best_move;
pub use draws::Draws;
pub use example::{Example, Message, MessageRole, read_examples};
pub use facts::factual;
pub use lines::best_line;
pub use mixing::{Mix, Mixture, MixtureSource, Source, mix};
pub use search::{MATE, ScoredMove, Verbalised, Wording, verbalised};

#[cfg(test)]
mod golden;
