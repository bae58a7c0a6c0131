//! `is_right(right_squares, right_state, index)` for the SQL: whether one label of a position is right.

use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, BooleanArray};
use datafusion::arrow::datatypes::{DataType, Int64Type, UInt16Type, UInt64Type};
use datafusion::common::exec_err;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};

use crate::labels::{LABELS, wrong};

/// The function, to be registered with a session. It is NULL where one of its arguments is.
pub fn is_right() -> ScalarUDF {
    create_udf(
        "is_right",
        vec![DataType::UInt64, DataType::UInt16, DataType::Int64],
        DataType::Boolean,
        Volatility::Immutable,
        Arc::new(compute),
    )
}

fn compute(arguments: &[ColumnarValue]) -> Result<ColumnarValue> {
    let columns = ColumnarValue::values_to_arrays(arguments)?;
    let squares = columns[0].as_primitive::<UInt64Type>();
    let state = columns[1].as_primitive::<UInt16Type>();
    let index = columns[2].as_primitive::<Int64Type>();
    let mut right = Vec::with_capacity(index.len());
    for row in 0..index.len() {
        if squares.is_null(row) || state.is_null(row) || index.is_null(row) {
            right.push(None);
            continue;
        }
        match index.value(row) {
            label @ 0..75 => right.push(Some(wrong(squares.value(row), state.value(row)) >> label & 1 == 0)),
            other => return exec_err!("is_right: there is no label {other}; they are 0 to {}", LABELS - 1),
        }
    }
    Ok(ColumnarValue::Array(Arc::new(BooleanArray::from(right))))
}
