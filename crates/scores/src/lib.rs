//! What a scores file contains (docs/formats.md, "scores"): its metrics, its model and its test set.

pub mod metrics;
mod model;

pub use model::ScoredModel;
