//! One scores file: losses summed game by game.

use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use cwm_contract::{Failure, Label};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Map, Value};

/// A game's positions and the sum of their losses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Game {
    /// Its number in the dataset.
    pub number: u32,
    /// Positions scored.
    pub positions: u64,
    /// Sum of their losses.
    pub loss: f64,
}

/// What one scores file holds.
pub struct Scores {
    /// The object under `cwm.model`; empty where there is none.
    pub model: Map<String, Value>,
    /// Its games, by number; `None` where no position has a loss, which predictions need not tell.
    pub games: Option<Vec<Game>>,
}

impl Scores {
    /// Reads `path`, the scores of `label`. Rows are sorted by game (docs/formats.md); losses are added in their order.
    ///
    /// # Errors
    /// The file cannot be read, is no scores file, holds no rows, rows that are not sorted, or losses of some rows only.
    pub fn read(label: &Label, path: &Path) -> Result<Self, Failure> {
        let wrong = |what: String| Failure::input(format!("the scores of {label} ({}) {what}", path.display()));
        let file = File::open(path).map_err(|error| Failure::io("open", path, error))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file)
            .map_err(|error| wrong(format!("are no readable Parquet file: {error}")))?;
        for (name, wanted) in [("game", DataType::UInt32), ("loss", DataType::Float64)] {
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
        let columns = ProjectionMask::columns(builder.parquet_schema(), ["game", "loss"]);
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
            (_, 0) => Ok(Scores { model, games: Some(games) }),
            _ if rows == without => Ok(Scores { model, games: None }),
            _ => Err(wrong(format!("lack the loss of {without} of {rows} positions"))),
        }
    }
}

fn add(games: &mut Vec<Game>, batch: &RecordBatch) -> Result<(), &'static str> {
    let (numbers, losses) = (&batch["game"], &batch["loss"]);
    if numbers.null_count() > 0 {
        return Err("hold positions without a game");
    }
    let numbers = numbers.as_primitive::<UInt32Type>().values();
    let losses = losses.as_primitive::<Float64Type>().values();
    for (&number, &loss) in numbers.iter().zip(losses) {
        match games.last_mut() {
            Some(game) if game.number == number => {
                game.positions += 1;
                game.loss += loss;
            }
            Some(game) if game.number > number => return Err("are not sorted by game"),
            _ => games.push(Game { number, positions: 1, loss }),
        }
    }
    Ok(())
}
