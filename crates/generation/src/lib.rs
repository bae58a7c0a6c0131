//! Answers of models of token sequences: each next word is drawn from the model's distribution, until the end word or a limit.
//!
//! Models of all families generate. A model that keeps keys and values, or a state of constant size, reads no word twice; others
//! read each answer anew from the beginning. An answer depends on its prompt, the weights, the rules of sampling and its own random
//! stream alone: not on the answers beside it, nor on the number of threads. This crate must not depend on what words mean.

mod checkpoint;
mod model;
mod reader;
mod sample;
mod sampling;

pub use checkpoint::Checkpoint;
pub use model::Model;
pub use sample::sample;
pub use sampling::Sampling;

#[cfg(test)]
mod tests;
