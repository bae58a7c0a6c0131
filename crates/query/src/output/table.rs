//! A table to look at in a terminal.

use std::io::Write;

use cwm_contract::{Failure, escape_characters, is_hidden};
use datafusion::arrow::datatypes::Fields;
use datafusion::arrow::record_batch::RecordBatch;

use super::for_each_row;

/// Characters of a value that are shown.
const MAX_CELL_CHARS: usize = 120;

/// Rows that are shown together, since columns are as wide as their widest value.
pub struct Table {
    names: Vec<String>,
    /// True if a column's values stand at its right edge.
    is_number: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Returns a table without rows.
    pub fn new(fields: &Fields) -> Self {
        Table {
            names: fields.iter().map(|field| shown(field.name())).collect(),
            is_number: fields.iter().map(|field| field.data_type().is_numeric()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds rows.
    ///
    /// # Errors
    /// They cannot be shown as text.
    pub fn add(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        for_each_row(batch, |row| {
            self.rows.push(row.iter().map(|value| value.as_deref().map_or("NULL".to_owned(), shown)).collect());
            Ok(())
        })
    }

    /// Writes it: the names, a line, the rows.
    pub fn write(self, out: &mut dyn Write) -> std::io::Result<()> {
        let width = |column: usize| {
            let values = self.rows.iter().map(|row| &row[column]).chain([&self.names[column]]);
            values.map(|value| value.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.names.len()).map(width).collect();
        let line = |values: &[String]| {
            let cells = values.iter().zip(&widths).zip(&self.is_number).map(|((value, width), is_number)| {
                if *is_number { format!("{value:>width$}") } else { format!("{value:<width$}") }
            });
            cells.collect::<Vec<_>>().join("  ")
        };
        writeln!(out, "{}", line(&self.names).trim_end())?;
        writeln!(out, "{}", widths.iter().map(|width| "─".repeat(*width)).collect::<Vec<_>>().join("  "))?;
        for row in &self.rows {
            writeln!(out, "{}", line(row).trim_end())?;
        }
        Ok(())
    }
}

/// A value on one line, and no longer than [`MAX_CELL_CHARS`].
fn shown(value: &str) -> String {
    match value.char_indices().nth(MAX_CELL_CHARS) {
        Some((end, _)) => format!("{}…", escape_characters(&value[..end], is_hidden)),
        None => escape_characters(value, is_hidden),
    }
}
