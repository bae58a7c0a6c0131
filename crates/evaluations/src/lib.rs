//! The format `evaluations`: positions with the best moves that an engine, or somebody else, found in them.
//!
//! One Parquet file, a row a position; `docs/formats.md` has its columns. Files are written and read a batch at a time, so that
//! memory does not grow with them. This crate must not depend on engines, or what evaluations are used for.

mod columns;
mod evaluation;
mod rows;
mod schema;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use cwm_table::{Row, TableReader, TableWriter};

pub use evaluation::{Evaluation, Line, NEPERS_PER_CENTIPAWN, Score, Source, UNKNOWN_MOVES};

/// A file of evaluations, row by row.
pub type Evaluations = TableReader<Evaluation>;

/// Writes evaluations in the order in which they come.
pub type EvaluationsWriter = TableWriter<Evaluation>;

impl Row for Evaluation {
    type Description = Source;

    const FORMAT: &'static str = "an evaluations";
    const KEY: &'static str = "cwm.evaluations";

    fn schema() -> SchemaRef {
        schema::schema()
    }

    fn columns(rows: &[Self]) -> Vec<ArrayRef> {
        columns::columns(rows)
    }

    fn rows(batch: &RecordBatch, before: u64) -> Result<Vec<Self>, String> {
        rows::rows(batch, before)
    }
}

#[cfg(test)]
mod tests;
