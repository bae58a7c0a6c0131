//! Tasks whose answers are worth a number (*Reasoning through chess*): boards as text, values of moves, items, readings of answers,
//! rewards and claims.
//!
//! This crate must not know engines, models, tokens, or files of answers.

pub mod board;
pub mod texts;
pub mod values;

#[cfg(test)]
mod golden;
