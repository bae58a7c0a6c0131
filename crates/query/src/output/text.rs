//! Values as text.

use cwm_contract::Failure;
use datafusion::arrow::array::Array;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

/// One column of a batch.
pub struct Column<'a> {
    values: &'a dyn Array,
    formatter: ArrayFormatter<'a>,
}

/// The columns of `batch`.
///
/// # Errors
/// One holds what cannot be shown as text.
pub fn columns(batch: &RecordBatch) -> Result<Vec<Column<'_>>, Failure> {
    const OPTIONS: FormatOptions<'static> = FormatOptions::new().with_display_error(false).with_null("NULL");
    batch
        .columns()
        .iter()
        .map(|values| {
            let formatter = ArrayFormatter::try_new(values.as_ref(), &OPTIONS)
                .map_err(|error| Failure::input(format!("the answer cannot be shown as text: {error}")))?;
            Ok(Column { values: values.as_ref(), formatter })
        })
        .collect()
}

impl Column<'_> {
    /// The value in a row; `None` is NULL.
    ///
    /// # Errors
    /// It is no value of its type.
    pub fn text(&self, row: usize) -> Result<Option<String>, Failure> {
        if self.values.is_null(row) {
            return Ok(None);
        }
        let text = self.formatter.value(row).try_to_string();
        text.map(Some).map_err(|error| Failure::input(format!("row {row} of the answer cannot be shown: {error}")))
    }
}
