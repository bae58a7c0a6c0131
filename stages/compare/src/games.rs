//! One scores file: its metrics summed game by game.

use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt8Type, UInt32Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use cwm_contract::{Failure, Label};
use cwm_scores::metrics::{self, METRICS};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Map, Value};

use crate::metric::DECISIVE;

/// The column with the game of a position.
const GAME: (&str, DataType) = ("game", DataType::UInt32);

/// A game's positions and sums over them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Game {
    /// Its number in the dataset.
    pub number: u32,
    /// Positions scored.
    pub positions: u64,
    /// The sum of each metric over them.
    pub sums: [f64; METRICS],
}

/// The contents of one scores file.
pub struct Scores {
    /// The object under `cwm.model`; empty where there is none.
    pub model: Map<String, Value>,
    /// Its games, by number; `None` where no position has the decisive metric, which predictions may leave out.
    pub games: Option<Vec<Game>>,
}

impl Scores {
    /// Reads `path`, the scores of `label`. Rows are sorted by game (docs/formats.md); they are added in their order.
    ///
    /// # Errors
    /// The file cannot be read, is no scores file, holds no rows, rows that are not sorted, or the decisive metric of
    /// some rows only.
    pub fn read(label: &Label, path: &Path) -> Result<Self, Failure> {
        let wrong = |what: String| Failure::input(format!("the scores of {label} ({}) {what}", path.display()));
        let file = File::open(path).map_err(|error| Failure::io("open", path, error))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file)
            .map_err(|error| wrong(format!("are no readable Parquet file: {error}")))?;
        let columns =
            || [GAME].into_iter().chain(metrics::ALL.iter().map(|metric| (metric.column, metric.data_type.clone())));
        for (name, wanted) in columns() {
            match builder.schema().field_with_name(name) {
                Err(_) => return Err(wrong(format!("have no column `{name}`"))),
                Ok(field) if *field.data_type() != wanted => {
                    return Err(wrong(format!("have a column `{name}` of {}, not {wanted}", field.data_type())));
                }
                Ok(_) => {}
            }
        }
        let entries = builder.metadata().file_metadata().key_value_metadata();
        let model = entries.into_iter().flatten().find(|entry| entry.key == "cwm.model");
        let model = match model.and_then(|entry| entry.value.as_deref()) {
            None => Map::new(),
            Some(text) => serde_json::from_str(text)
                .map_err(|error| wrong(format!("have a `cwm.model` that is not a JSON object: {error}")))?,
        };
        let columns = ProjectionMask::columns(builder.parquet_schema(), columns().map(|(name, _)| name));
        let batches = builder.with_projection(columns).build();
        let batches = batches.map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let mut games: Vec<Game> = Vec::new();
        let (mut rows, mut without) = (0, 0);
        for batch in batches {
            let batch = batch.map_err(|error| wrong(format!("cannot be read: {error}")))?;
            rows += batch.num_rows();
            without += batch[metrics::ALL[DECISIVE].column].null_count();
            add(&mut games, &batch).map_err(|what| wrong(what.to_owned()))?;
        }
        match (rows, without) {
            (0, _) => Err(wrong("hold no positions".to_owned())),
            (_, 0) => {
                for game in &mut games {
                    game.sums.iter_mut().zip(&metrics::ALL).for_each(|(sum, metric)| *sum /= metric.whole);
                }
                Ok(Scores { model, games: Some(games) })
            }
            _ if rows == without => Ok(Scores { model, games: None }),
            _ => Err(wrong(format!("lack the {} of {without} of {rows} positions", metrics::ALL[DECISIVE].name))),
        }
    }
}

fn add(games: &mut Vec<Game>, batch: &RecordBatch) -> Result<(), &'static str> {
    if batch[GAME.0].null_count() > 0 {
        return Err("hold positions without a game");
    }
    let columns = metrics::ALL.each_ref().map(|metric| &batch[metric.column]);
    if columns.iter().enumerate().any(|(place, column)| place != DECISIVE && column.null_count() > 0) {
        return Err("hold positions without right labels");
    }
    let values = columns.map(values);
    let numbers = batch[GAME.0].as_primitive::<UInt32Type>().values();
    for (row, &number) in numbers.iter().enumerate() {
        match games.last() {
            Some(game) if game.number == number => {}
            Some(game) if game.number > number => return Err("are not sorted by game"),
            _ => games.push(Game { number, ..Game::default() }),
        }
        if let Some(game) = games.last_mut() {
            game.positions += 1;
            // Counts are whole numbers until all are added, so that nothing is rounded.
            game.sums.iter_mut().zip(&values).for_each(|(sum, values)| *sum += values[row]);
        }
    }
    Ok(())
}

/// The column's values as floats, whichever of the types of the metrics it has.
fn values(column: &ArrayRef) -> Vec<f64> {
    match column.data_type() {
        DataType::Boolean => column.as_boolean().values().iter().map(|value| f64::from(u8::from(value))).collect(),
        DataType::UInt8 => column.as_primitive::<UInt8Type>().values().iter().map(|value| f64::from(*value)).collect(),
        _ => column.as_primitive::<Float64Type>().values().to_vec(),
    }
}
