//! The format `evaluations`: positions with the best moves that an engine, or somebody else, found in them.
//!
//! One Parquet file, a row a position; `docs/formats.md` has its columns. Files are written and read a batch at a time, so that
//! memory does not grow with them. This crate must not know engines, or what evaluations are used for.

mod evaluation;
mod reader;
mod schema;
mod writer;

pub use evaluation::{Evaluation, Line, Score, Source};
pub use reader::Evaluations;
pub use writer::EvaluationsWriter;

#[cfg(test)]
mod tests;
