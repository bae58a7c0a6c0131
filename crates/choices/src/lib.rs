//! The format `choices`: the move that a model chose in each position, beside the best one.
//!
//! One Parquet file, a row a position; `docs/formats.md` has its columns. Files are written and read a batch at a time, so that
//! memory does not grow with them. This crate must not depend on chess, models, or what choices are compared for.

mod choice;
mod chooser;
mod columns;
mod rows;
mod schema;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use cwm_table::{Row, TableReader, TableWriter};

pub use choice::{Choice, Correctness};
pub use chooser::Chooser;

/// A file of choices, row by row.
pub type Choices = TableReader<Choice>;

/// Writes choices in the order in which they come.
pub type ChoicesWriter = TableWriter<Choice>;

impl Row for Choice {
    type Description = Chooser;

    const FORMAT: &'static str = "a choices";
    const KEY: &'static str = "cwm.choices";
    const HINT: Option<&'static str> =
        Some("choices of another program first go through the stage `choose`, which compares them with the best moves");

    fn schema() -> SchemaRef {
        schema::schema()
    }

    fn columns(rows: &[Self]) -> Vec<ArrayRef> {
        columns::columns(rows)
    }

    fn rows(batch: &RecordBatch, _before: u64) -> Result<Vec<Self>, String> {
        Ok(rows::rows(batch))
    }
}

#[cfg(test)]
mod tests;
