//! Our own engine: it values moves by material and squares, a few plies ahead. All of it is whole numbers, so that values are the
//! same on every machine.
//!
//! This crate must not depend on who plays, or what values are used for.

mod evaluation;
mod search;

pub use evaluation::{EvaluatedPosition, MATE};
pub use search::{Candidate, candidates, values};
