//! The stage `evaluate`: how a trained model does on games, one row for each position.
//!
//! It knows checkpoints, datasets and the table that it writes. It must not know how a model was trained, which families
//! there are, or how scores are summed up.

mod config;
mod run;
mod scores;
mod stage;
#[cfg(test)]
mod tests;

pub use stage::Evaluate;
