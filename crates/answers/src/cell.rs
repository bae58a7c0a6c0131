//! Types of values, and their columns.

use std::sync::Arc;

use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, StringArray, UInt64Array};
use arrow_schema::{DataType, Field};

/// A value that a column has in each row.
pub trait Cell: Sized {
    /// The column.
    fn field(name: &str) -> Field;

    /// Its values.
    fn column<'v>(values: impl Iterator<Item = &'v Self>) -> ArrayRef
    where
        Self: 'v;

    /// The value of a row of a column of this type.
    fn value(column: &ArrayRef, row: usize) -> Self;

    /// Bytes of text in the value.
    fn text_bytes(&self) -> usize {
        0
    }
}

macro_rules! cell {
    ($kind:ty, $data_type:expr, $array:ty, $given:expr, $get:expr, $bytes:expr) => {
        impl Cell for $kind {
            fn field(name: &str) -> Field {
                Field::new(name, $data_type, false)
            }

            fn column<'v>(values: impl Iterator<Item = &'v Self>) -> ArrayRef {
                Arc::new(values.map(|value| Some($given(value))).collect::<$array>())
            }

            fn value(column: &ArrayRef, row: usize) -> Self {
                $get(column, row)
            }

            fn text_bytes(&self) -> usize {
                $bytes(self)
            }
        }

        impl Cell for Option<$kind> {
            fn field(name: &str) -> Field {
                Field::new(name, $data_type, true)
            }

            fn column<'v>(values: impl Iterator<Item = &'v Self>) -> ArrayRef {
                Arc::new(values.map(|value| value.as_ref().map($given)).collect::<$array>())
            }

            fn value(column: &ArrayRef, row: usize) -> Self {
                column.is_valid(row).then(|| $get(column, row))
            }

            fn text_bytes(&self) -> usize {
                self.as_ref().map_or(0, $bytes)
            }
        }
    };
}

cell!(
    String,
    DataType::Utf8,
    StringArray,
    String::as_str,
    |column: &ArrayRef, row| column.as_string::<i32>().value(row).to_owned(),
    String::len
);
cell!(
    bool,
    DataType::Boolean,
    BooleanArray,
    Clone::clone,
    |column: &ArrayRef, row| column.as_boolean().value(row),
    |_| 0
);
cell!(
    u64,
    DataType::UInt64,
    UInt64Array,
    Clone::clone,
    |column: &ArrayRef, row| column.as_primitive::<UInt64Type>().value(row),
    |_| 0
);
cell!(
    f64,
    DataType::Float64,
    Float64Array,
    Clone::clone,
    |column: &ArrayRef, row| column.as_primitive::<Float64Type>().value(row),
    |_| 0
);

/// A digest, where it is known.
impl Cell for Option<[u8; 16]> {
    fn field(name: &str) -> Field {
        Field::new(name, DataType::FixedSizeBinary(16), true)
    }

    fn column<'v>(values: impl Iterator<Item = &'v Self>) -> ArrayRef {
        let mut builder = FixedSizeBinaryBuilder::new(16);
        for value in values {
            // Values have the width of the column, so that none is refused.
            match value.map(|value| builder.append_value(value)) {
                Some(Ok(())) => {}
                None | Some(Err(_)) => builder.append_null(),
            }
        }
        Arc::new(builder.finish())
    }

    fn value(column: &ArrayRef, row: usize) -> Self {
        let column = column.as_fixed_size_binary();
        column.is_valid(row).then(|| column.value(row).try_into().ok()).flatten()
    }
}
