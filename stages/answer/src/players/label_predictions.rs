//! The labels that a world model predicts for the positions of items, from a file of predictions.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt8Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::DataType;
use cwm_contract::Failure;
use cwm_encoding::{LABELS, classes as classes_of};
use cwm_questions::truth::{Keys, predicted_answer, predicted_position, target_square};
use cwm_questions::{Category, Form, Item};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

/// The labels by game and plies played.
pub struct LabelPredictions(HashMap<(String, u64), [u8; LABELS]>);

impl LabelPredictions {
    /// Reads the labels of the positions that these items are about.
    ///
    /// # Errors
    /// The file is no file of predictions.
    pub fn read(path: &Path, items: &[Item]) -> Result<Self, Failure> {
        let wrong = |what: String| Failure::input(format!("the predictions ({}): {what}", path.display()));
        let wanted: HashSet<(String, u64)> = items.iter().filter_map(|item| place(item).ok().flatten()).collect();
        let file = fs_err::File::open(path)?.into_file();
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| wrong(error.to_string()))?;
        if builder.metadata().file_metadata().num_rows() == 0 {
            return Err(wrong("there are no rows".to_owned())
                .hint("the stage `evaluate` writes predictions with `keep_predictions: true`"));
        }
        let mut predictions = HashMap::new();
        for batch in builder.build().map_err(|error| wrong(error.to_string()))? {
            let batch = batch.map_err(|error| wrong(error.to_string()))?;
            let (ids, plies) = (column(&batch, "id", &DataType::Utf8), column(&batch, "t", &DataType::UInt64));
            let item = arrow_schema::Field::new("item", DataType::UInt8, true);
            let labels = column(&batch, "labels", &DataType::List(item.into()));
            let (ids, plies, labels) = (ids.map_err(wrong)?, plies.map_err(wrong)?, labels.map_err(wrong)?);
            let (ids, plies, labels) =
                (ids.as_string::<i32>(), plies.as_primitive::<UInt64Type>(), labels.as_list::<i32>());
            for row in 0..batch.num_rows() {
                let place = (ids.value(row).to_owned(), plies.value(row));
                if !wanted.contains(&place) {
                    continue;
                }
                let list = labels.value(row);
                let list = list.as_primitive::<UInt8Type>();
                let classes: Option<[u8; LABELS]> = list.values().as_ref().try_into().ok();
                let classes = classes.filter(|_| list.null_count() == 0);
                let (id, t) = (&place.0, place.1);
                let classes =
                    classes.ok_or_else(|| wrong(format!("game `{id}`, t {t}: there are not {LABELS} labels")))?;
                if let Some(label) = (0..LABELS).find(|&label| usize::from(classes[label]) >= classes_of(label)) {
                    let class = classes[label];
                    return Err(wrong(format!("game `{id}`, t {t}: {class} is no class of label {label}")));
                }
                if predictions.insert(place.clone(), classes).is_some() {
                    return Err(wrong(format!("game `{id}`, t {t} has two rows")));
                }
            }
        }
        Ok(LabelPredictions(predictions))
    }

    /// The response to an item, as it follows from the believed board by these keys: empty if there is no board without both kings.
    /// `None` of tasks that a board does not answer.
    ///
    /// # Errors
    /// The item is not from a game, or nothing was predicted of its position.
    pub fn answer(&self, item: &Item, keys: Keys) -> Result<Option<String>, Failure> {
        let located = |what: String| Failure::input(format!("{}: {what}", item.task_id));
        let Some(task) = item.task().filter(|task| matches!(task.category(), Category::Structural | Category::Motifs))
        else {
            return Ok(None);
        };
        let place = place(item).map_err(located)?;
        let place = place.ok_or_else(|| {
            located("a world model is asked about positions of games, and this item names no game and moves".to_owned())
                .hint("build the items with `positions: games`")
        })?;
        let (id, t) = &place;
        let labels = self.0.get(&place);
        let labels = labels.ok_or_else(|| {
            located(format!("the predictions have no row of game `{id}`, t {t}"))
                .hint("predict the games that the items were built from")
        })?;
        let square = target_square(item).map_err(located)?;
        let Some(position) = predicted_position(labels) else { return Ok(Some(String::new())) };
        let answer = predicted_answer(task, square, &position, keys);
        let answer = answer.ok_or_else(|| located("its metadata has no target_square".to_owned()))?;
        Ok(Some(super::terminal_line(&answer)))
    }
}

/// The game and the number of plies of the position that an item is about; of state tracking that of its answer. `None` if its
/// metadata do not name them.
fn place(item: &Item) -> Result<Option<(String, u64)>, String> {
    let count = |name: &str| item.metadata.get(name).and_then(Value::as_array).map(|moves| moves.len() as u64);
    let (Some(id), Some(before)) = (item.metadata.text("game_id"), count("moves")) else { return Ok(None) };
    let is_tracking = item.task().is_some_and(|task| task.form() == Form::Fen);
    let followed = if is_tracking { count("moves_uci").ok_or("its metadata has no moves_uci")? } else { 0 };
    Ok(Some((id.to_owned(), before + followed)))
}

/// The values of a column, none of which is null.
fn column(batch: &RecordBatch, name: &str, kind: &DataType) -> Result<ArrayRef, String> {
    let column = batch.column_by_name(name).ok_or_else(|| format!("there is no column `{name}`"))?;
    let values = cast(column, kind).map_err(|error| format!("column `{name}`: {error}"))?;
    if values.null_count() > 0 {
        return Err(format!("column `{name}` has values that are none"));
    }
    Ok(values)
}
