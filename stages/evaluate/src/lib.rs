//! The stage `evaluate`: scores a model on games, one row for each position; a checkpoint of ours, or the predictions
//! of any program.
//!
//! It depends on checkpoints, predictions, datasets and the three files that it writes. It must not depend on how a model
//! was trained, which families there are, or how scores are summed up.

mod boards;
mod checkpoint;
mod config;
mod kept_predictions;
mod parquet_file;
mod predictions;
mod probe;
mod scores;
mod stage;
#[cfg(test)]
mod tests;

pub use stage::Evaluate;
