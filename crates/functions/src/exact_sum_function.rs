//! `exact_sum(float)` for the SQL: the aggregate around [`ExactSum`].

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::common::exec_datafusion_err;
use datafusion::error::Result;
use datafusion::logical_expr::{Accumulator, AggregateUDF, Volatility, create_udaf};
use datafusion::scalar::ScalarValue;

use crate::exact_sum::ExactSum;

/// The function, to be registered with a session. As `sum`, it skips NULL and is NULL over no rows.
pub fn exact_sum() -> AggregateUDF {
    create_udaf(
        "exact_sum",
        vec![DataType::Float64],
        Arc::new(DataType::Float64),
        Volatility::Immutable,
        Arc::new(|_| Ok(Box::<Running>::default())),
        Arc::new(vec![DataType::Binary]),
    )
}

#[derive(Debug, Default)]
struct Running {
    /// `None` until the first number.
    sum: Option<ExactSum>,
}

impl Accumulator for Running {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let numbers = values[0].as_primitive::<Float64Type>();
        if numbers.null_count() < numbers.len() {
            let sum = self.sum.get_or_insert_default();
            numbers.iter().flatten().for_each(|number| sum.add(number));
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for bytes in states[0].as_binary::<i32>().iter().flatten() {
            let part = ExactSum::from_bytes(bytes)
                .ok_or_else(|| exec_datafusion_err!("exact_sum: a state of {} bytes", bytes.len()))?;
            self.sum.get_or_insert_default().merge(&part);
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::Binary(self.sum.as_ref().map(ExactSum::to_bytes))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64(self.sum.as_ref().map(ExactSum::value)))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.sum.as_ref().map_or(0, ExactSum::allocated)
    }
}
