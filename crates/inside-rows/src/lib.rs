//! The formats `transpositions` and `legality`: one Parquet file each, whose rows are members of classes, or words that a model
//! expects.
//!
//! `docs/formats.md` has the columns. This crate must not depend on chess, models, or what is computed from the rows.

mod legality;
mod transpositions;

use cwm_table::{TableReader, TableWriter};

pub use legality::{Legality, LegalityDescription};
pub use transpositions::{Transposition, TranspositionsDescription};

/// A file of transpositions, row by row.
pub type TranspositionsReader = TableReader<Transposition>;

/// Writes transpositions in the order in which they come.
pub type TranspositionsWriter = TableWriter<Transposition>;

/// A file of legality, row by row.
pub type LegalityReader = TableReader<Legality>;

/// Writes legality in the order in which it comes.
pub type LegalityWriter = TableWriter<Legality>;

#[cfg(test)]
mod tests;
