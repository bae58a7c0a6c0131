//! The content of a scores file (docs/formats.md, "scores"): its metrics, its model and its test set.

pub mod metrics;
mod model;

pub use model::ScoredModel;
