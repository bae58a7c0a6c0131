//! A small Parquet file as one table, whose columns are checked as they are taken.

use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::DataType;
use cwm_contract::Failure;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// The whole file in memory.
pub(crate) struct Table {
    /// Its path, for messages.
    path: String,
    rows: RecordBatch,
}

/// A value of a column: the Arrow types that are read as it, and how.
pub(crate) trait Value: Sized {
    /// The type in words, for messages.
    const WORDS: &'static str;
    /// Returns true if a column of this type can be read.
    fn reads(kind: &DataType) -> bool;
    /// The type that a column is cast to before its values are taken.
    const AS: DataType;
    /// The values of a column of type [`Value::AS`]; `None` where they are null.
    fn values(column: &ArrayRef) -> Vec<Option<Self>>;
}

impl Value for String {
    const WORDS: &'static str = "text";
    const AS: DataType = DataType::Utf8;
    fn reads(kind: &DataType) -> bool {
        matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
    }
    fn values(column: &ArrayRef) -> Vec<Option<Self>> {
        column.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
    }
}

impl Value for i64 {
    const WORDS: &'static str = "64-bit integers";
    const AS: DataType = DataType::Int64;
    fn reads(kind: &DataType) -> bool {
        *kind == Self::AS
    }
    fn values(column: &ArrayRef) -> Vec<Option<Self>> {
        column.as_primitive::<Int64Type>().iter().collect()
    }
}

impl Value for u64 {
    const WORDS: &'static str = "unsigned 64-bit integers";
    const AS: DataType = DataType::UInt64;
    fn reads(kind: &DataType) -> bool {
        *kind == Self::AS
    }
    fn values(column: &ArrayRef) -> Vec<Option<Self>> {
        column.as_primitive::<UInt64Type>().iter().collect()
    }
}

impl Value for f64 {
    const WORDS: &'static str = "numbers";
    const AS: DataType = DataType::Float64;
    fn reads(kind: &DataType) -> bool {
        kind.is_integer() || kind.is_floating()
    }
    fn values(column: &ArrayRef) -> Vec<Option<Self>> {
        column.as_primitive::<Float64Type>().iter().collect()
    }
}

impl Value for bool {
    const WORDS: &'static str = "booleans";
    const AS: DataType = DataType::Boolean;
    fn reads(kind: &DataType) -> bool {
        *kind == Self::AS
    }
    fn values(column: &ArrayRef) -> Vec<Option<Self>> {
        column.as_boolean().iter().collect()
    }
}

impl Table {
    /// Reads the file.
    ///
    /// # Errors
    /// It cannot be opened, or is no Parquet.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let file = File::open(path).map_err(|error| Failure::io("open", path, error))?;
        let path = path.display().to_string();
        let unreadable =
            |error: &dyn std::fmt::Display| Failure::input(format!("{path} is no readable Parquet file: {error}"));
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| unreadable(&error))?;
        let schema = reader.schema().clone();
        let batches = reader.build().map_err(|error| unreadable(&error))?.collect::<Result<Vec<_>, _>>();
        let batches = batches.map_err(|error| unreadable(&error))?;
        let rows = arrow_select::concat::concat_batches(&schema, &batches).map_err(|error| unreadable(&error))?;
        Ok(Table { path, rows })
    }

    /// Its path, for messages.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The number of its rows.
    pub(crate) fn height(&self) -> usize {
        self.rows.num_rows()
    }

    /// The values of a column that bins of earlier versions do not have: null throughout where it is absent.
    ///
    /// # Errors
    /// The column holds something else.
    pub(crate) fn optional<T: Value>(&self, name: &str) -> Result<Vec<Option<T>>, Failure> {
        let Some(column) = self.rows.column_by_name(name) else {
            return Ok((0..self.height()).map(|_| None).collect());
        };
        let (path, found, words) = (&self.path, column.data_type(), T::WORDS);
        if !T::reads(found) {
            return Err(Failure::input(format!("the column `{name}` of {path} must be {words}, not {found}")));
        }
        let column = cast(column, &T::AS).map_err(|error| Failure::internal(format!("{path}, `{name}`: {error}")))?;
        Ok(T::values(&column))
    }

    /// The values of a column that must be there; `None` where they are unknown (null).
    ///
    /// # Errors
    /// The column is absent, or holds something else.
    pub(crate) fn nullable<T: Value>(&self, name: &str) -> Result<Vec<Option<T>>, Failure> {
        if self.rows.column_by_name(name).is_none() {
            return Err(Failure::input(format!("{} has no column `{name}`", self.path)));
        }
        self.optional(name)
    }

    /// The values of a column that must be there, and known in each row.
    ///
    /// # Errors
    /// The column is absent, holds something else, or has a null.
    pub(crate) fn column<T: Value>(&self, name: &str) -> Result<Vec<T>, Failure> {
        let known: Option<Vec<T>> = self.nullable(name)?.into_iter().collect();
        known.ok_or_else(|| Failure::input(format!("the column `{name}` of {} has missing values", self.path)))
    }
}
