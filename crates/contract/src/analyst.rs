//! What people ask of artifacts.

use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;

use crate::{Failure, Format};

/// Answers queries over artifacts. The executor meets it here, since it must not know what files hold. No stage uses
/// it, it writes to no artifact, and it is in no fingerprint.
pub trait Analyst: Send + Sync {
    /// The tables that these artifacts make, by name. What holds no table is passed over.
    ///
    /// # Errors
    /// An artifact cannot be read, or none of them holds a table.
    fn tables(&self, artifacts: &[Artifact]) -> Result<Vec<TableAbout>, Failure>;

    /// Answers one query in SQL over these tables, in the form that is asked for, into `answer`.
    ///
    /// # Errors
    /// As [`Analyst::tables`]; it is no query, or one that would change something; it names what is not there, or fails;
    /// or the answer cannot be written.
    fn query(
        &self,
        artifacts: &[Artifact],
        query: &str,
        form: AnswerForm,
        cores: usize,
        answer: &mut (dyn Write + Send),
    ) -> Result<Answered, Failure>;
}

/// One output of one cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// The cell, such as `evaluation[size=d32/l1,test=held_out]`.
    pub cell: String,
    /// The name of the output.
    pub port: String,
    /// What it holds.
    pub format: Format,
    /// The file or folder.
    pub path: PathBuf,
}

/// A table that can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableAbout {
    /// As a query names it.
    pub name: String,
    /// The cells whose rows it holds, in their order.
    pub cells: Vec<String>,
    /// Name and type, in words of Arrow's, of each column.
    pub columns: Vec<ColumnAbout>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnAbout {
    /// As a query names it.
    pub name: String,
    /// Such as `uint32`, `text` or `list of uint16`.
    pub holds: String,
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerForm {
    /// A table to look at, of at most so many rows.
    Table {
        /// Rows shown.
        rows: usize,
    },
    /// A header and lines of comma-separated values.
    Csv {
        /// Whether it goes to a terminal: what could control one is escaped, which changes values.
        for_terminal: bool,
    },
    /// One JSON object a line.
    Json,
}

/// What became of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered {
    /// Rows that were written.
    pub rows: u64,
    /// Whether there were more, which the form left out.
    pub is_cut: bool,
}
