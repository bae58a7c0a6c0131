//! Comma-separated values, as RFC 4180 has them. NULL is an empty field, an empty text `""`.

use std::borrow::Cow;
use std::io::Write;

use cwm_contract::{Failure, escape_characters, is_hidden};
use datafusion::arrow::record_batch::RecordBatch;

use super::{for_each_row, write_failure};

/// The first line.
pub fn write_names(names: &[&str], for_terminal: bool, out: &mut dyn Write) -> std::io::Result<()> {
    let fields: Vec<String> = names.iter().map(|name| field(name, for_terminal)).collect();
    writeln!(out, "{}", fields.join(","))
}

/// A line a row.
///
/// # Errors
/// A value cannot be shown as text, or the lines cannot be written.
pub fn write(batch: &RecordBatch, for_terminal: bool, out: &mut dyn Write) -> Result<(), Failure> {
    for_each_row(batch, |row| {
        let fields: Vec<String> = row
            .iter()
            .map(|value| value.as_deref().map_or(String::new(), |value| field(value, for_terminal)))
            .collect();
        writeln!(out, "{}", fields.join(",")).map_err(write_failure)
    })
}

fn field(value: &str, for_terminal: bool) -> String {
    let value = if for_terminal { Cow::Owned(escape_characters(value, is_hidden)) } else { Cow::Borrowed(value) };
    if value.is_empty() || value.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.into_owned()
    }
}
