//! Policy gradients of groups of sampled answers: advantages within a group, and the clipped objectives Dr. GRPO, GRPO and
//! DAPO over log-probabilities of tokens.
//!
//! An item is answered several times; these answers are a group. This crate must not depend on what an answer is, where a
//! reward comes from, or what model gives the log-probabilities.

mod objective;
mod surrogate;
#[cfg(test)]
mod tests;

pub use objective::{Objective, has_signal};
pub use surrogate::{Surrogate, TokenTerms};
