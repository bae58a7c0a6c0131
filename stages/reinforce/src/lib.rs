//! The stage `reinforce`: trains a model of words by reinforcement with exact rewards.
//!
//! - `questions`: what it reads. `rollouts`: sampled answers and their rewards.
//! - `micro_batch` and `policy`: log-probabilities and the loss. `step`: one step, from answers to updates.
//! - `outcome`: what is counted of answers. `validation`: the same on items that are not trained on. `answer_journal`: answers to
//!   look at.
//!
//! It must not depend on families, rules of chess, or how an answer is read: the crates below do.

mod answer_journal;
mod config;
mod micro_batch;
mod outcome;
mod policy;
mod probe;
mod questions;
mod rollouts;
mod run;
mod stage;
mod step;
#[cfg(test)]
mod tests;
mod validation;

pub use stage::Reinforce;
