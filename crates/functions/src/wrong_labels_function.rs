//! `wrong_labels(right_squares, right_state)` for the SQL: for each label the rows that have it wrong.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Field, UInt16Type, UInt64Type};
use datafusion::common::exec_err;
use datafusion::error::Result;
use datafusion::logical_expr::{Accumulator, AggregateUDF, Volatility, create_udaf};
use datafusion::scalar::ScalarValue;

use crate::labels::{LABELS, wrong};

/// The function, to be registered with a session: a list of 75 counts, all 0 over no rows.
pub fn wrong_labels() -> AggregateUDF {
    let counts = DataType::List(Arc::new(Field::new_list_field(DataType::UInt64, true)));
    create_udaf(
        "wrong_labels",
        vec![DataType::UInt64, DataType::UInt16],
        Arc::new(counts.clone()),
        Volatility::Immutable,
        Arc::new(|_| Ok(Box::new(Counts([0; LABELS])))),
        Arc::new(vec![counts]),
    )
}

#[derive(Debug)]
struct Counts([u64; LABELS]);

impl Accumulator for Counts {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        if values.iter().any(|column| column.null_count() > 0) {
            return exec_err!("wrong_labels: some rows have no right labels");
        }
        let squares = values[0].as_primitive::<UInt64Type>().values();
        let state = values[1].as_primitive::<UInt16Type>().values();
        for (squares, state) in squares.iter().zip(state) {
            let mut wrong = wrong(*squares, *state);
            while wrong != 0 {
                self.0[wrong.trailing_zeros() as usize] += 1;
                wrong &= wrong - 1;
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for part in states[0].as_list::<i32>().iter().flatten() {
            let part = part.as_primitive::<UInt64Type>().values();
            self.0.iter_mut().zip(part).for_each(|(count, more)| *count += more);
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let counts: Vec<_> = self.0.iter().map(|count| ScalarValue::UInt64(Some(*count))).collect();
        Ok(ScalarValue::List(ScalarValue::new_list_nullable(&counts, &DataType::UInt64)))
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}
