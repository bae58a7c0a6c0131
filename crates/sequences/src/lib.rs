//! The format `sequences`: training data of models that read tokens, a row a sequence, with a target or none at each
//! place.
//!
//! A folder of Arrow IPC files; `docs/formats.md` describes them. Files are written a batch at a time and read through a memory
//! map, so that memory does not grow with them. This crate must not depend on what the numbers stand for.

mod batch;
mod format;
mod reader;
mod sequence;
mod writer;

pub use format::SHARD_ROWS;
pub use reader::Sequences;
pub use sequence::{NEEDS_MASK, NO_LOSS, Sequence, Vocabulary};
pub use writer::SequencesWriter;

#[cfg(test)]
mod tests;
