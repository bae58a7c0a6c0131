//! The stage `learn`: a model of any family that answers in token sequences, such as with the best move of a position.
//!
//! What it learns at which place stands in its data; the loop itself is `cwm-training`. It must not know which families there
//! are (the registry of `cwm-models` does), what tokens stand for, how sequences were made, or what becomes of its checkpoint.

mod config;
mod data;
mod metrics;
mod probe;
mod run;
mod stage;
mod start;
mod task;
#[cfg(test)]
mod tests;
mod validation;

pub use stage::Learn;
