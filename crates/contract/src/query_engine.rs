//! Queries over artifacts.

use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;

use crate::{Failure, Format};

/// Answers queries over artifacts. The executor uses this trait, since it must not depend on the content of files. No stage
/// uses it, it writes to no artifact, and it is in no fingerprint.
pub trait QueryEngine: Send + Sync {
    /// Returns the tables of these artifacts, by name. Artifacts without a table are skipped.
    ///
    /// # Errors
    /// An artifact cannot be read, or none of them holds a table.
    fn tables(&self, artifacts: &[StoredOutput]) -> Result<Vec<TableSchema>, Failure>;

    /// Answers one query in SQL over these tables and writes the rows to `answer`.
    ///
    /// # Errors
    /// As [`QueryEngine::tables`]; or the text is no query, would change something, names an unknown table or column, or
    /// fails; or the answer cannot be written.
    fn query(
        &self,
        artifacts: &[StoredOutput],
        query: &str,
        output: QueryOutput,
        cores: usize,
        answer: &mut (dyn Write + Send),
    ) -> Result<QuerySummary, Failure>;
}

/// One output of one cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredOutput {
    /// The cell, such as `evaluation[size=d32/l1,test=held_out]`.
    pub cell: String,
    /// The name of the output.
    pub output_name: String,
    /// Its format.
    pub format: Format,
    /// The file or folder.
    pub path: PathBuf,
}

/// The schema of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableSchema {
    /// Its name in queries.
    pub name: String,
    /// The cells whose rows it holds, in their order.
    pub cells: Vec<String>,
    /// Its columns.
    pub columns: Vec<ColumnSchema>,
}

/// The name and type of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnSchema {
    /// Its name in queries.
    pub name: String,
    /// Its type, such as `uint32`, `text` or `list of uint16`.
    pub data_type: String,
}

/// The format of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryOutput {
    /// A table for people, of at most so many rows.
    Table {
        /// Rows shown.
        rows: usize,
    },
    /// A header and lines of comma-separated values.
    Csv {
        /// True if it goes to a terminal: control characters are escaped, which changes values.
        for_terminal: bool,
    },
    /// One JSON object a line.
    Json,
}

/// The outcome of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuerySummary {
    /// Rows that were written.
    pub rows: u64,
    /// True if there were more rows than the output shows.
    pub is_truncated: bool,
}
