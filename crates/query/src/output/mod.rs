//! Rows, written down as they come.

mod csv;
mod json;
mod table;
mod text;

use std::io::Write;

use cwm_contract::{Failure, QueryOutput, QuerySummary};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;

use crate::session::error_message;

/// Writes all `rows`, or as many as `form` shows.
///
/// # Errors
/// They cannot be computed or written.
pub async fn write(
    mut rows: SendableRecordBatchStream,
    form: QueryOutput,
    out: &mut (dyn Write + Send),
) -> Result<QuerySummary, Failure> {
    let schema = rows.schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let mut written = QuerySummary { rows: 0, is_truncated: false };
    let mut table = match form {
        QueryOutput::Table { .. } => Some(table::Table::new(schema.fields())),
        QueryOutput::Csv { for_terminal } => {
            csv::write_names(&names, for_terminal, out).map_err(write_failure)?;
            None
        }
        QueryOutput::Json => None,
    };
    while let Some(batch) = rows.next().await {
        let mut batch =
            batch.map_err(|error| Failure::input(format!("the query failed: {}", error_message(&error))))?;
        if let QueryOutput::Table { rows } = form {
            let left = usize::try_from(rows as u64 - written.rows).unwrap_or(usize::MAX);
            written.is_truncated = batch.num_rows() > left;
            batch = batch.slice(0, left.min(batch.num_rows()));
        }
        match (&mut table, form) {
            (Some(table), _) => table.add(&batch)?,
            (None, QueryOutput::Csv { for_terminal }) => csv::write(&batch, for_terminal, out)?,
            (None, _) => json::write(&batch, out)?,
        }
        written.rows += batch.num_rows() as u64;
        if written.is_truncated {
            break;
        }
    }
    if let Some(table) = table {
        table.write(out).map_err(write_failure)?;
    }
    out.flush().map_err(write_failure)?;
    Ok(written)
}

/// Calls `each` with every row of `batch` as texts; `None` is NULL.
fn for_each_row(
    batch: &RecordBatch,
    mut each: impl FnMut(&[Option<String>]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let columns = text::columns(batch)?;
    let mut row = Vec::with_capacity(columns.len());
    for at in 0..batch.num_rows() {
        row.clear();
        for column in &columns {
            row.push(column.text(at)?);
        }
        each(&row)?;
    }
    Ok(())
}

fn write_failure(error: std::io::Error) -> Failure {
    Failure::system(format!("cannot write the answer: {error}"))
}
