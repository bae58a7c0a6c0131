//! One scores file: its metrics summed game by game.

use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt8Type, UInt32Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use cwm_contract::{Failure, Label};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Map, Value};

/// Labels of a position.
const LABELS: f64 = 75.0;
/// The columns that are read.
const COLUMNS: [(&str, DataType); 4] = [
    ("game", DataType::UInt32),
    ("correct", DataType::UInt8),
    ("exact", DataType::Boolean),
    ("loss", DataType::Float64),
];

/// A game's positions and sums over them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Game {
    /// Its number in the dataset.
    pub number: u32,
    /// Positions scored.
    pub positions: u64,
    /// Sum of their losses.
    pub loss: f64,
    /// Sum of the shares of labels that are right.
    pub labelwise: f64,
    /// How many are exact.
    pub exact: f64,
}

/// What one scores file holds.
pub struct Scores {
    /// The object under `cwm.model`; empty where there is none.
    pub model: Map<String, Value>,
    /// Its games, by number; `None` where no position has a loss, which predictions need not tell.
    pub games: Option<Vec<Game>>,
}

impl Scores {
    /// Reads `path`, the scores of `label`. Rows are sorted by game (docs/formats.md); they are added in their order.
    ///
    /// # Errors
    /// The file cannot be read, is no scores file, holds no rows, rows that are not sorted, or losses of some rows only.
    pub fn read(label: &Label, path: &Path) -> Result<Self, Failure> {
        let wrong = |what: String| Failure::input(format!("the scores of {label} ({}) {what}", path.display()));
        let file = File::open(path).map_err(|error| Failure::io("open", path, error))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file)
            .map_err(|error| wrong(format!("are no readable Parquet file: {error}")))?;
        for (name, wanted) in COLUMNS {
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
        let columns = ProjectionMask::columns(builder.parquet_schema(), COLUMNS.map(|(name, _)| name));
        let batches = builder.with_projection(columns).build();
        let batches = batches.map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let mut games: Vec<Game> = Vec::new();
        let (mut rows, mut without) = (0, 0);
        for batch in batches {
            let batch = batch.map_err(|error| wrong(format!("cannot be read: {error}")))?;
            rows += batch.num_rows();
            without += batch["loss"].null_count();
            add(&mut games, &batch).map_err(|what| wrong(what.to_owned()))?;
        }
        match (rows, without) {
            (0, _) => Err(wrong("hold no positions".to_owned())),
            (_, 0) => {
                games.iter_mut().for_each(|game| game.labelwise /= LABELS);
                Ok(Scores { model, games: Some(games) })
            }
            _ if rows == without => Ok(Scores { model, games: None }),
            _ => Err(wrong(format!("lack the loss of {without} of {rows} positions"))),
        }
    }
}

fn add(games: &mut Vec<Game>, batch: &RecordBatch) -> Result<(), &'static str> {
    if batch["game"].null_count() > 0 {
        return Err("hold positions without a game");
    }
    if batch["correct"].null_count() > 0 || batch["exact"].null_count() > 0 {
        return Err("hold positions that do not say what is right");
    }
    let numbers = batch["game"].as_primitive::<UInt32Type>().values();
    let losses = batch["loss"].as_primitive::<Float64Type>().values();
    let correct = batch["correct"].as_primitive::<UInt8Type>().values();
    let exact = batch["exact"].as_boolean();
    for (row, &number) in numbers.iter().enumerate() {
        match games.last() {
            Some(game) if game.number == number => {}
            Some(game) if game.number > number => return Err("are not sorted by game"),
            _ => games.push(Game { number, ..Game::default() }),
        }
        if let Some(game) = games.last_mut() {
            game.positions += 1;
            game.loss += losses[row];
            // Whole numbers until all are added, so that nothing is rounded.
            game.labelwise += f64::from(correct[row]);
            game.exact += f64::from(u8::from(exact.value(row)));
        }
    }
    Ok(())
}
