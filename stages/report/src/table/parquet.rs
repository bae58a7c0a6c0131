//! A table as Parquet, long: a row for each cell, so that all tables have one schema and can be read as one.

use cwm_contract::Failure;
use polars::prelude::{Column, DataFrame, NamedFrom, ParquetWriter, PolarsResult, Series};

use super::{Cell, Table};

impl Table {
    /// The Parquet file (docs/formats.md, "report"): of the table's fuller data where it has some.
    ///
    /// # Errors
    /// Polars cannot, which is a mistake of ours.
    pub(crate) fn parquet(&self) -> Result<Vec<u8>, Failure> {
        let failed = |error| Failure::internal(format!("cannot write {} as Parquet: {error}", self.id));
        self.frame().and_then(bytes).map_err(failed)
    }

    fn frame(&self) -> PolarsResult<DataFrame> {
        let data = self.data();
        let keys = data.keys();
        let mut cells = Vec::new();
        let mut row_number = 0u64;
        for (group, (rows, run)) in (0u64..).zip(data.all_groups()) {
            for row in rows {
                cells.extend(
                    keys.iter().zip(&row.cells).map(|(key, cell)| (row_number, group, run, row.kind, key, cell)),
                );
                row_number += 1;
            }
        }
        let floats = |name: &str, read: fn(&Cell) -> Option<f64>| -> Column {
            Series::new(name.into(), cells.iter().map(|(.., cell)| read(cell)).collect::<Vec<_>>()).into()
        };
        let texts = |name: &str, read: &dyn Fn(usize) -> String| -> Column {
            Series::new(name.into(), (0..cells.len()).map(read).collect::<Vec<_>>()).into()
        };
        let from: Vec<Series> =
            cells.iter().map(|(.., cell)| Series::new("".into(), cell.sources.as_slice())).collect();
        DataFrame::new(
            cells.len(),
            vec![
                texts("table", &|_| self.id.clone()),
                Series::new("row".into(), cells.iter().map(|cell| cell.0).collect::<Vec<_>>()).into(),
                Series::new("group".into(), cells.iter().map(|cell| cell.1).collect::<Vec<_>>()).into(),
                Series::new("run".into(), cells.iter().map(|cell| cell.2).collect::<Vec<_>>()).into(),
                texts("kind", &|at| cells[at].3.name().to_owned()),
                texts("column", &|at| cells[at].4.clone()),
                texts("text", &|at| cells[at].5.text.clone()),
                floats("value", |cell| cell.value),
                floats("deviation", |cell| cell.deviation.as_ref().map(|(deviation, _)| *deviation)),
                floats("low", |cell| cell.interval.as_ref().map(|interval| interval.low)),
                floats("high", |cell| cell.interval.as_ref().map(|interval| interval.high)),
                Series::new("from".into(), from).into(),
            ],
        )
    }
}

fn bytes(mut frame: DataFrame) -> PolarsResult<Vec<u8>> {
    let mut bytes = Vec::new();
    ParquetWriter::new(&mut bytes).finish(&mut frame)?;
    Ok(bytes)
}
