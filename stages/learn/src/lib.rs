//! The stage `learn`: a model of any family that answers in token sequences, such as with the best move of a position.
//!
//! The target at each place is in its data; the loop itself is `cwm-training`. It must not depend on the families (the
//! registry of `cwm-models` does), the meaning of tokens, the making of sequences, or the use of its checkpoint.

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
