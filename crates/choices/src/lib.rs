//! The format `choices`: the move that a model chose in each position, beside the best one.
//!
//! One Parquet file, a row a position; `docs/formats.md` has its columns. Files are written and read a batch at a time, so that
//! memory does not grow with them. This crate must not know chess, models, or what choices are compared for.

mod choice;
mod chooser;
mod reader;
mod schema;
mod writer;

pub use choice::{Choice, Correctness};
pub use chooser::Chooser;
pub use reader::Choices;
pub use writer::ChoicesWriter;

#[cfg(test)]
mod tests;
