//! Predictions in place of a checkpoint.

use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, ListBuilder, PrimitiveBuilder};
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type, UInt8Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, LargeStringArray, RecordBatch, StringArray, UInt64Array};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::*;

mod authors;
mod faults;

/// The prediction of a program for one position.
#[derive(Clone, Debug)]
struct PredictionRow {
    game: usize,
    t: i64,
    labels: Vec<u8>,
    loss: Option<f64>,
}

/// The truth of every position of `games()`, but for label `(game + t) % 75`, which is another class in every third
/// row.
fn prediction_rows() -> Vec<PredictionRow> {
    let mut rows = Vec::new();
    for (game, tokens) in games().iter().enumerate() {
        let mut labels = vec![0; tokens.len() * LABELS];
        replay_into(tokens, EnPassant::Always, &mut labels).unwrap();
        for (t, labels) in labels.chunks(LABELS).enumerate() {
            let mut labels = labels.to_vec();
            if rows.len() % 3 == 0 {
                labels[(game + t) % LABELS] ^= 1;
            }
            rows.push(PredictionRow { game, t: t as i64, labels, loss: Some(rows.len() as f64 / 7.0) });
        }
    }
    rows
}

/// The same rows in another order, which mixes games.
fn shuffled(rows: &[PredictionRow]) -> Vec<PredictionRow> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&row| (row * 7919) % 1009);
    order.into_iter().map(|row| rows[row].clone()).collect()
}

fn fixed(rows: &[PredictionRow]) -> ArrayRef {
    let mut lists = FixedSizeListBuilder::new(PrimitiveBuilder::<UInt8Type>::new(), LABELS as i32);
    for row in rows {
        lists.values().append_slice(&row.labels);
        lists.append(true);
    }
    Arc::new(lists.finish())
}

fn lists<T: ArrowPrimitiveType>(rows: &[PredictionRow], number: impl Fn(u8) -> T::Native) -> ArrayRef {
    let mut lists = ListBuilder::new(PrimitiveBuilder::<T>::new());
    for row in rows {
        row.labels.iter().for_each(|&label| lists.values().append_value(number(label)));
        lists.append(true);
    }
    Arc::new(lists.finish())
}

fn ids(rows: &[PredictionRow]) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(rows.iter().map(|row| format!("game{}", row.game))))
}

fn times(rows: &[PredictionRow]) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.t)))
}

fn losses(rows: &[PredictionRow]) -> ArrayRef {
    Arc::new(Float64Array::from_iter(rows.iter().map(|row| row.loss)))
}

fn write(path: &Path, columns: Vec<(&str, ArrayRef)>, model: Option<&str>) {
    let batch =
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)));
    let batch = batch.unwrap();
    let metadata = model.map(|model| vec![KeyValue::new("cwm.model".to_owned(), model.to_owned())]);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(100))
        .set_key_value_metadata(metadata)
        .build();
    let mut writer =
        ArrowWriter::try_new(std::fs::File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn plain(path: &Path, rows: &[PredictionRow]) {
    write(path, vec![("id", ids(rows)), ("t", times(rows)), ("labels", fixed(rows))], None);
}

fn score(folder: &Path, cores: usize, more: &[(&str, Value)]) -> Result<Outcome, Failure> {
    let trial = Trial::new(folder.join("work"))
        .input("predictions", folder.join("predictions"))
        .input("games", folder.join("dataset"))
        .cores(cores);
    more.iter().fold(trial, |trial, (name, value)| trial.with(name, value.clone())).run(&Evaluate)
}

fn bytes(folder: &Path, cores: usize) -> Vec<u8> {
    let outcome = score(folder, cores, &[]).unwrap();
    ["scores", "boards"].map(|name| std::fs::read(&outcome.outputs[name]).unwrap()).concat()
}

#[test]
fn rows_in_any_order_and_form_are_held_against_the_labels() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, rows) = (folder.path(), prediction_rows());
    dataset(folder, &games());
    let path = folder.join("predictions");
    plain(&path, &rows);
    let outcome = score(folder, 1, &[]).unwrap();
    let (found, metadata) = read(&outcome.outputs["scores"]);
    let boards = super::boards::check(&outcome, 2);
    // Row 0 is position 0 of game 0, of which label 0 is said to be another class.
    assert_eq!(boards[0]["wrong"][0], serde_json::json!([[0, boards[0]["labels"][0][0].as_u64().unwrap() ^ 1]]));
    assert_eq!(found.num_rows(), rows.len());
    assert_eq!(metadata["cwm.dataset"]["positions"], rows.len());
    for (at, row) in rows.iter().enumerate() {
        let wrong = (at % 3 == 0).then_some((row.game + row.t as usize) % LABELS);
        let all = (1u128 << LABELS) - 1;
        let expected = wrong.map_or(all, |label| all & !(1 << label));
        let right = u128::from(found["right_squares"].as_primitive::<UInt64Type>().value(at))
            | u128::from(found["right_state"].as_primitive::<UInt16Type>().value(at)) << 64;
        assert_eq!(right, expected, "row {at}");
        assert_eq!(found["game"].as_primitive::<UInt32Type>().value(at) as usize, row.game);
        assert_eq!(i64::from(found["t"].as_primitive::<UInt32Type>().value(at)), row.t);
        assert_eq!(found["exact"].as_boolean().value(at), wrong.is_none());
    }
    // Nobody told a loss, so there is none; that is not a loss of 0 or NaN.
    assert_eq!(found["loss"].null_count(), rows.len());
    assert!(!outcome.metrics.contains_key("loss"));
    let exact = rows.len() - rows.len().div_ceil(3);
    assert_eq!(outcome.metrics["exact"], exact as f64 / rows.len() as f64);

    let expected = bytes(folder, 1);
    let rows = shuffled(&rows);
    let places: ArrayRef = Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.game as u64)));
    let large: ArrayRef =
        Arc::new(LargeStringArray::from_iter_values(rows.iter().map(|row| format!("game{}", row.game))));
    let forms: [Vec<(&str, ArrayRef)>; 3] = [
        vec![("id", ids(&rows)), ("t", times(&rows)), ("labels", fixed(&rows))],
        vec![("labels", lists::<UInt8Type>(&rows, |label| label)), ("game", places), ("t", times(&rows))],
        vec![
            ("game", large),
            ("labels", lists::<Int64Type>(&rows, i64::from)),
            ("x", times(&rows)),
            ("t", times(&rows)),
        ],
    ];
    for (cores, columns) in (1..).zip(forms) {
        write(&path, columns, None);
        assert!(bytes(folder, cores) == expected, "form {cores}");
    }
}

#[test]
fn losses_are_kept_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, mut rows) = (folder.path(), prediction_rows());
    dataset(folder, &games());
    (rows[3].loss, rows[4].loss) = (Some(f64::INFINITY), Some(f64::NAN));
    let mixed = shuffled(&rows);
    let columns = vec![("id", ids(&mixed)), ("t", times(&mixed)), ("labels", fixed(&mixed)), ("loss", losses(&mixed))];
    write(&folder.join("predictions"), columns, None);
    let outcome = score(folder, 2, &[]).unwrap();
    super::boards::check(&outcome, 2);
    let (found, _) = read(&outcome.outputs["scores"]);
    let bits = |value: f64| if value.is_nan() { 1 } else { value.to_bits() };
    let found: Vec<u64> = found["loss"].as_primitive::<Float64Type>().values().iter().map(|&loss| bits(loss)).collect();
    assert_eq!(found, rows.iter().map(|row| bits(row.loss.unwrap())).collect::<Vec<_>>());
    assert!(outcome.metrics["loss"].is_nan());
}

#[test]
fn the_model_is_called_what_the_stage_or_the_file_says() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, rows) = (folder.path(), prediction_rows());
    dataset(folder, &games());
    let columns = || vec![("id", ids(&rows)), ("t", times(&rows)), ("labels", fixed(&rows))];
    let path = folder.join("predictions");
    let model =
        |more: &[(&str, Value)]| read(&score(folder, 1, more).unwrap().outputs["scores"]).1["cwm.model"].clone();
    write(&path, columns(), Some(r#"{"family":"gru","size":"small","steps":9}"#));
    assert_eq!(model(&[]), serde_json::json!({"family":"gru","size":"small","steps":9}));
    let named =
        [("name", Value::Text("lstm".into())), ("size", Value::Text("d8/l1".into())), ("parameters", Value::Int(12))];
    let expected = serde_json::json!({"family":"lstm","size":"d8/l1","parameters":12,"steps":9});
    assert_eq!(model(&named), expected);
    write(&path, columns(), None);
    assert_eq!(model(&[]), serde_json::json!({}));
    let test = [("test", Value::Text("shift".into()))];
    assert_eq!(model(&test), serde_json::json!({"test":"shift"}));
    assert_eq!(super::boards::check(&score(folder, 1, &test).unwrap(), 2)[0]["model"]["test"], "shift");
    write(&path, columns(), Some("[]"));
    let message = score(folder, 1, &[]).err().unwrap().message;
    assert!(message.starts_with("`cwm.model` in the predictions is not a JSON object"), "{message}");
}
