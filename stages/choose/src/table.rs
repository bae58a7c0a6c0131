//! A file of choices of another program (docs/formats.md): a row a position, in any order.
//!
//! `record` (a whole number) and `text`; also `forced_text`, `loss` and `tokens`, if the program has them. Whatever else the
//! file holds is passed over, so that what `choose` wrote is such a file too.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt16Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_cast::display::array_value_to_string;
use arrow_schema::{DataType, Schema};
use cwm_contract::Failure;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// The choice of a program in a position.
#[derive(Debug)]
pub struct ForeignChoice {
    /// Its free answer.
    pub text: String,
    /// Its forced answer.
    pub forced_text: Option<String>,
    /// -ln of the probability of the right answer.
    pub loss: Option<f64>,
    /// Number of tokens of the right answer.
    pub tokens: Option<u16>,
}

/// All rows of a file, by record.
pub struct Table(HashMap<u64, ForeignChoice>);

impl Table {
    /// Reads a file of choices among `records`, those of the evaluations.
    ///
    /// # Errors
    /// It is no Parquet file, lacks a column or has one of another type; a row is of no record of the evaluations, or of one
    /// that another row was of.
    pub fn read(path: &Path, records: &HashSet<u64>) -> Result<Self, Failure> {
        let unreadable = |error: &dyn std::fmt::Display| {
            Failure::input(format!("the choices ({}) are no readable Parquet file: {error}", path.display()))
        };
        let file = fs_err::File::open(path)?.into_file();
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| unreadable(&error))?;
        check_columns(builder.schema())?;
        let (mut rows, mut first) = (HashMap::new(), 0);
        for batch in builder.build().map_err(|error| unreadable(&error))? {
            let batch = batch.map_err(|error| unreadable(&error))?;
            for (row, (record, choice)) in (first..).zip(choices(&batch, first)?) {
                if !records.contains(&record) {
                    let message =
                        format!("row {row} of the choices is of record {record}, which the evaluations do not have");
                    return Err(Failure::input(message));
                }
                if rows.insert(record, choice).is_some() {
                    let message =
                        format!("row {row} of the choices is of record {record}, of which there was a row before");
                    return Err(Failure::input(message));
                }
            }
            first += batch.num_rows() as u64;
        }
        Ok(Table(rows))
    }

    /// The choice in the position of a record.
    pub fn get(&self, record: u64) -> Option<&ForeignChoice> {
        self.0.get(&record)
    }
}

/// Checks that columns are there and have their types.
fn check_columns(schema: &Schema) -> Result<(), Failure> {
    let is_text = |kind: &DataType| matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    for (name, wanted, is_needed) in [
        ("record", "whole numbers", true),
        ("text", "text", true),
        ("forced_text", "text", false),
        ("loss", "floating-point numbers", false),
        ("tokens", "whole numbers", false),
    ] {
        let Ok(field) = schema.field_with_name(name) else {
            if is_needed {
                let found: Vec<_> = schema.fields().iter().map(|field| format!("`{}`", field.name())).collect();
                let message = format!("the choices have no column `{name}`; they have {}", found.join(", "));
                return Err(Failure::input(message).hint("docs/formats.md, `choices`, lists the columns"));
            }
            continue;
        };
        let kind = field.data_type();
        let fits = match wanted {
            "text" => is_text(kind),
            "whole numbers" => kind.is_integer(),
            _ => kind.is_floating(),
        };
        if !fits {
            let found = if kind.is_nested() { "lists or records".to_owned() } else { kind.to_string() };
            let message = format!("the column `{name}` of the choices must hold {wanted}, not {found}");
            return Err(Failure::input(message));
        }
    }
    Ok(())
}

/// The rows of a batch, the first of which is row `first` of the file, with their records.
fn choices(batch: &RecordBatch, first: u64) -> Result<Vec<(u64, ForeignChoice)>, Failure> {
    let column = |name: &str, kind: DataType| {
        let Some(column) = batch.column_by_name(name) else { return Ok(None) };
        let cast = cast(column, &kind);
        let cast = cast.map_err(|error| Failure::input(format!("the column `{name}` of the choices: {error}")))?;
        // A number beyond the type has become null.
        match (0..column.len()).find(|&row| column.is_valid(row) && cast.is_null(row)) {
            Some(row) => {
                let value = array_value_to_string(column, row).unwrap_or_default();
                let most = if kind == DataType::UInt16 { " to 65,535" } else { "" };
                Err(Failure::input(format!(
                    "row {} of the choices has the `{name}` {value}, which is no whole number from 0{most}",
                    first + row as u64
                )))
            }
            None => Ok(Some(cast)),
        }
    };
    let (record, text) = (column("record", DataType::UInt64)?, column("text", DataType::Utf8)?);
    let (forced, loss) = (column("forced_text", DataType::Utf8)?, column("loss", DataType::Float64)?);
    let tokens = column("tokens", DataType::UInt16)?;
    let is_there =
        |column: &Option<ArrayRef>, row: usize| column.as_ref().filter(|column| column.is_valid(row)).cloned();
    let words = |column: &Option<ArrayRef>, row| Some(is_there(column, row)?.as_string::<i32>().value(row).to_owned());
    let loss_of = |row: usize| {
        let found = is_there(&loss, row).map(|loss| loss.as_primitive::<Float64Type>().value(row));
        match found.filter(|loss| !loss.is_finite() || *loss < 0.0) {
            Some(wrong) => {
                let row = first + row as u64;
                let message = format!("row {row} of the choices has the `loss` {wrong}, which is no number from 0");
                Err(Failure::input(message)
                    .hint("-ln of the probability of the right answer; null where it is not known"))
            }
            None => Ok(found),
        }
    };
    let of_row = |row: usize| {
        let lacks = |name: &str| Failure::input(format!("row {} of the choices has no `{name}`", first + row as u64));
        let record = is_there(&record, row).ok_or_else(|| lacks("record"))?.as_primitive::<UInt64Type>().value(row);
        let choice = ForeignChoice {
            text: words(&text, row).ok_or_else(|| lacks("text"))?,
            forced_text: words(&forced, row),
            loss: loss_of(row)?,
            tokens: is_there(&tokens, row).map(|tokens| tokens.as_primitive::<UInt16Type>().value(row)),
        };
        Ok((record, choice))
    };
    (0..batch.num_rows()).map(of_row).collect()
}
