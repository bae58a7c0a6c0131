//! The builder `guided`: a teacher explains whether a move is good, and is shown a line that an engine found.
//!
//! The teacher is another model: it answers items, and its texts within answer tags become examples. This module draws
//! the first moves and writes the items; the caller has the lines of an engine.

mod item;
mod mode;

pub use item::{GuidedLine, guided_example, guided_item};
pub use mode::{GuidedMode, GuidedSearch};

#[cfg(test)]
mod tests;
