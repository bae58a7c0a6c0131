//! A file of predictions (docs/formats.md): one row a position, in any order.
//!
//! `id` (text) or `game` (a whole number, the place in the dataset), `t`, `labels` (a list of 75 classes) and, if the
//! program has it, `loss`. Whatever else the file holds is passed over.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt8Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Schema};
use cwm_contract::Failure;
use cwm_encoding::{LABELS, classes};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use serde_json::{Map, Value};

use super::names::GameNames;

/// Rows in memory at once.
const BATCH: usize = 8_192;
/// A cross-entropy is 0 or more; a program's sums may be so far off.
const LEAST_LOSS: f64 = -1e-6;

/// An opened file.
pub struct Table {
    file: std::fs::File,
    metadata: ArrowReaderMetadata,
    /// The name of the column of the game; true if it holds ids.
    game: (&'static str, bool),
}

/// Some rows of it.
pub struct Rows {
    /// Number of the first one in the file, from 0.
    first: u64,
    /// The game of each, as its place in the dataset.
    pub games: Vec<u32>,
    /// The position of each.
    pub t: Vec<u64>,
    /// [rows, 75]; each is a class that its label has.
    pub labels: Vec<u8>,
    /// The loss of each, where the file has it.
    pub loss: Option<Vec<f64>>,
}

impl Rows {
    /// Returns their number.
    pub fn len(&self) -> usize {
        self.games.len()
    }

    /// The number of one of them in the file, from 0.
    pub fn number(&self, row: usize) -> u64 {
        self.first + row as u64
    }
}

impl Table {
    /// Opens the file and checks its columns.
    ///
    /// # Errors
    /// It is no Parquet file, or has no such column, or has one of another type.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let file = fs_err::File::open(path)?.into_parts().0;
        let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(|error| {
            Failure::input(format!("the predictions ({}) are no readable Parquet file: {error}", path.display()))
        })?;
        let game = columns(metadata.schema())?;
        Ok(Table { file, metadata, game })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.metadata.metadata().file_metadata().num_rows().unsigned_abs()
    }

    /// Returns true if rows name their games by id.
    pub fn names_by_id(&self) -> bool {
        self.game.1
    }

    /// Returns true if rows have a loss.
    pub fn has_loss(&self) -> bool {
        self.metadata.schema().field_with_name("loss").is_ok()
    }

    /// Returns the file's own description of its model: the JSON object under `cwm.model`.
    ///
    /// # Errors
    /// That is no JSON object.
    pub fn model(&self) -> Result<Map<String, Value>, Failure> {
        let metadata = self.metadata.metadata().file_metadata().key_value_metadata();
        let model = metadata.into_iter().flatten().find(|entry| entry.key == "cwm.model");
        match model.and_then(|entry| entry.value.as_deref()) {
            None => Ok(Map::new()),
            Some(text) => serde_json::from_str(text).map_err(|error| {
                Failure::input(format!("`cwm.model` in the predictions is not a JSON object: {error}"))
            }),
        }
    }

    /// Reads all rows, some at a time.
    ///
    /// # Errors
    /// The file cannot be read. Each batch may be an error: the file is damaged, or a row is not what it should be.
    pub fn read(self, names: GameNames) -> Result<impl Iterator<Item = Result<Rows, Failure>>, Failure> {
        let unreadable = |error: &dyn std::fmt::Display| {
            Failure::input(format!("the predictions cannot be read to their end: {error}"))
        };
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(self.file, self.metadata);
        let wanted = [self.game.0, "t", "labels", "loss"];
        let roots: Vec<usize> = wanted.iter().filter_map(|name| builder.schema().index_of(name).ok()).collect();
        let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
        let reader = builder.with_projection(mask).with_batch_size(BATCH).build();
        let reader = reader.map_err(|error| unreadable(&error))?;
        let (mut first, game) = (0, self.game);
        Ok(reader.map(move |batch| {
            let batch = batch.map_err(|error| unreadable(&error))?;
            let rows = rows(&batch, first, game, &names)?;
            first += rows.len() as u64;
            Ok(rows)
        }))
    }
}

/// Checks the columns; returns the name of the column of the game, and true if it holds ids.
fn columns(schema: &Arc<Schema>) -> Result<(&'static str, bool), Failure> {
    let kind = |name: &str| schema.field_with_name(name).ok().map(|field| field.data_type());
    for name in ["id", "game", "t", "labels", "loss"] {
        let count = schema.fields().iter().filter(|field| field.name() == name).count();
        if count > 1 {
            return Err(Failure::input(format!("the predictions have {count} columns `{name}`: leave one of them")));
        }
    }
    let wrong = |name: &str, wanted: &str, found: &DataType| {
        Err(Failure::input(format!("the column `{name}` of the predictions must hold {wanted}, not {found}")))
    };
    let missing_column = |what: &str| {
        let found: Vec<_> = schema.fields().iter().map(|field| format!("`{}`", field.name())).collect();
        Failure::input(format!("the predictions have no column {what}; they have {}", found.join(", ")))
            .hint("docs/formats.md, `predictions`, lists the required columns")
    };
    let game = match (kind("id"), kind("game")) {
        (Some(_), Some(_)) => {
            return Err(Failure::input(
                "the predictions have a column `id` and a column `game`: leave one of them out",
            ));
        }
        (Some(kind), None) if is_text(kind) => ("id", true),
        (Some(kind), None) => return wrong("id", "text", kind),
        (None, Some(kind)) if is_text(kind) => ("game", true),
        (None, Some(kind)) if kind.is_integer() => ("game", false),
        (None, Some(kind)) => return wrong("game", "places of games (whole numbers) or ids (text)", kind),
        (None, None) => return Err(missing_column("`id` and none `game`")),
    };
    match kind("t") {
        Some(kind) if kind.is_integer() => {}
        Some(kind) => return wrong("t", "whole numbers", kind),
        None => return Err(missing_column("`t`")),
    }
    match kind("labels") {
        Some(DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _))
            if item.data_type().is_integer() => {}
        Some(kind) => return wrong("labels", "lists of 75 whole numbers", kind),
        None => return Err(missing_column("`labels`")),
    }
    match kind("loss") {
        Some(kind) if !kind.is_floating() => wrong("loss", "floating-point numbers", kind),
        _ => Ok(game),
    }
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// One batch, checked.
fn rows(batch: &RecordBatch, first: u64, game: (&'static str, bool), names: &GameNames) -> Result<Rows, Failure> {
    let wrong =
        |row: usize, what: String| Failure::input(format!("row {} of the predictions {what}", first + row as u64));
    let column = |name: &str| -> Result<&ArrayRef, Failure> {
        let found = batch.column_by_name(name);
        let column = found.ok_or_else(|| Failure::internal(format!("the column `{name}` was not read")))?;
        // Of a dictionary the values count.
        match column.logical_nulls().and_then(|nulls| (0..column.len()).find(|&row| nulls.is_null(row))) {
            Some(row) => Err(wrong(row, format!("has no `{name}`"))),
            None => Ok(column),
        }
    };
    let games = if game.1 {
        let ids = cast(column(game.0)?, &DataType::Utf8)?;
        let (ids, mut last) = (ids.as_string::<i32>(), None);
        let find = |row| {
            let id = ids.value(row);
            let place = match last {
                Some((known, place)) if known == id => place,
                _ => names.with_id(id).map_err(|what| wrong(row, what))?,
            };
            last = Some((id, place));
            Ok(place)
        };
        (0..batch.num_rows()).map(find).collect::<Result<Vec<_>, Failure>>()?
    } else {
        let places = naturals(column(game.0)?, &|row| wrong(row, format!("has a negative `{}`", game.0)))?;
        let find = |(row, &place): (usize, &u64)| names.at(place).map_err(|what| wrong(row, what));
        places.iter().enumerate().map(find).collect::<Result<Vec<_>, _>>()?
    };
    let t = naturals(column("t")?, &|row| wrong(row, "has a negative `t`".into()))?;
    let labels = labels(column("labels")?, &wrong)?;
    let loss = match batch.column_by_name("loss") {
        Some(_) => Some(cast(column("loss")?, &DataType::Float64)?.as_primitive::<Float64Type>().values().to_vec()),
        None => None,
    };
    let negative = loss.iter().flatten().position(|loss| *loss < LEAST_LOSS);
    if let Some(row) = negative {
        return Err(wrong(row, "has a negative `loss`".into()));
    }
    Ok(Rows { first, games, t, labels, loss })
}

/// [rows, 75], each a class that its label has.
fn labels(lists: &ArrayRef, wrong: &impl Fn(usize, String) -> Failure) -> Result<Vec<u8>, Failure> {
    let lists = cast(lists, &DataType::LargeList(item(lists.data_type())?))?;
    let lists = lists.as_list::<i64>();
    for row in 0..lists.len() {
        if lists.value_length(row) != LABELS as i64 {
            return Err(wrong(row, format!("has {} labels, not {LABELS}", lists.value_length(row))));
        }
    }
    let (begin, end) = (lists.value_offsets()[0] as usize, lists.value_offsets()[lists.len()] as usize);
    let values = lists.values().slice(begin, end - begin);
    let predicted = cast(&values, &DataType::UInt8)?;
    let predicted = predicted.as_primitive::<UInt8Type>();
    for (at, &class) in predicted.values().iter().enumerate() {
        let (row, label) = (at / LABELS, at % LABELS);
        if values.is_null(at) {
            return Err(wrong(row, format!("has no label {label}")));
        }
        // What does not fit into a byte became null.
        if predicted.is_null(at) || usize::from(class) >= classes(label) {
            let found = naturals(&values.slice(at, 1), &|_| wrong(row, format!("has a negative label {label}")))?[0];
            return Err(wrong(row, format!("has {found} for label {label}, which has {} classes", classes(label))));
        }
    }
    Ok(predicted.values().to_vec())
}

/// The field of a list's items.
fn item(lists: &DataType) -> Result<arrow_schema::FieldRef, Failure> {
    match lists {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => Ok(item.clone()),
        other => Err(Failure::internal(format!("{other} is no list"))),
    }
}

/// Whole numbers from 0; `wrong` returns the failure of a row that has another.
fn naturals(column: &ArrayRef, wrong: &dyn Fn(usize) -> Failure) -> Result<Vec<u64>, Failure> {
    let numbers = cast(column, &DataType::UInt64)?;
    let numbers = numbers.as_primitive::<UInt64Type>();
    match (0..numbers.len()).find(|&row| numbers.is_null(row)) {
        Some(row) => Err(wrong(row)),
        None => Ok(numbers.values().to_vec()),
    }
}

/// The column as another type; what does not fit is null.
fn cast(column: &ArrayRef, wanted: &DataType) -> Result<ArrayRef, Failure> {
    let options = CastOptions { safe: true, ..CastOptions::default() };
    cast_with_options(column, wanted, &options)
        .map_err(|error| Failure::input(format!("a column of the predictions cannot be read as {wanted}: {error}")))
}
