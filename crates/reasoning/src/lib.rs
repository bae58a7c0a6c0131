//! *Reasoning through chess*: positions as text, values of moves, and system messages.
//!
//! This crate must not know engines, models, tokens, or files of answers.

pub mod board;
pub mod texts;
pub mod values;

#[cfg(test)]
mod golden;
