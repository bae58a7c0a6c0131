//! Formats that are one Parquet file: rows of one type, and a description of them all in the file's metadata.
//!
//! Files are written and read a batch at a time, so that memory does not grow with them; equal rows are equal bytes. The crates of
//! formats have tests. This crate must not depend on what rows mean.

mod difference;
mod reader;
mod writer;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use reader::TableReader;
pub use writer::TableWriter;

/// A row of a format.
pub trait Row: Sized {
    /// The description of all rows of a file, such as their source.
    type Description: Serialize + DeserializeOwned;

    /// The format with its article, as in "is not *a choices* file".
    const FORMAT: &'static str;

    /// The key in the file's metadata under which the description is, as JSON.
    const KEY: &'static str;

    /// The hint for a file that has no description, if there is one.
    const HINT: Option<&'static str> = None;

    /// The columns.
    fn schema() -> SchemaRef;

    /// Bytes of texts in the row, where these may be long: many of them are written sooner.
    fn text_bytes(&self) -> usize {
        0
    }

    /// The values of these rows, column by column.
    fn columns(rows: &[Self]) -> Vec<ArrayRef>;

    /// The rows of a batch with the columns of the schema, before which the file has `before` rows.
    ///
    /// # Errors
    /// A value that cannot be, and in which row.
    fn rows(batch: &RecordBatch, before: u64) -> Result<Vec<Self>, String>;
}
