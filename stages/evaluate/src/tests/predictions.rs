//! Predictions in place of a checkpoint.

use std::collections::HashMap;
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

/// What a program says of one position.
#[derive(Clone, Debug)]
struct Said {
    game: usize,
    t: i64,
    labels: Vec<u8>,
    loss: Option<f64>,
}

/// Of every position of `games()` the truth, but for label `(game + t) % 75`, which is another class in every third row.
fn said() -> Vec<Said> {
    let mut rows = Vec::new();
    for (game, tokens) in games().iter().enumerate() {
        let mut labels = vec![0; tokens.len() * LABELS];
        replay_into(tokens, EnPassant::Always, &mut labels).unwrap();
        for (t, labels) in labels.chunks(LABELS).enumerate() {
            let mut labels = labels.to_vec();
            if rows.len() % 3 == 0 {
                labels[(game + t) % LABELS] ^= 1;
            }
            rows.push(Said { game, t: t as i64, labels, loss: Some(rows.len() as f64 / 7.0) });
        }
    }
    rows
}

/// In another order that mixes games.
fn shuffled(rows: &[Said]) -> Vec<Said> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&row| (row * 7919) % 1009);
    order.into_iter().map(|row| rows[row].clone()).collect()
}

fn fixed(rows: &[Said]) -> ArrayRef {
    let mut lists = FixedSizeListBuilder::new(PrimitiveBuilder::<UInt8Type>::new(), LABELS as i32);
    for row in rows {
        lists.values().append_slice(&row.labels);
        lists.append(true);
    }
    Arc::new(lists.finish())
}

fn lists<T: ArrowPrimitiveType>(rows: &[Said], number: impl Fn(u8) -> T::Native) -> ArrayRef {
    let mut lists = ListBuilder::new(PrimitiveBuilder::<T>::new());
    for row in rows {
        row.labels.iter().for_each(|&label| lists.values().append_value(number(label)));
        lists.append(true);
    }
    Arc::new(lists.finish())
}

fn ids(rows: &[Said]) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(rows.iter().map(|row| format!("game{}", row.game))))
}

fn times(rows: &[Said]) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.t)))
}

fn losses(rows: &[Said]) -> ArrayRef {
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

fn plain(path: &Path, rows: &[Said]) {
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
    std::fs::read(&score(folder, cores, &[]).unwrap().outputs["scores"]).unwrap()
}

#[test]
fn rows_in_any_order_and_form_are_held_against_the_labels() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, rows) = (folder.path(), said());
    dataset(folder, &games());
    let path = folder.join("predictions");
    plain(&path, &rows);
    let outcome = score(folder, 1, &[]).unwrap();
    let (found, metadata) = read(&outcome.outputs["scores"]);
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
    let (folder, mut rows) = (folder.path(), said());
    dataset(folder, &games());
    (rows[3].loss, rows[4].loss) = (Some(f64::INFINITY), Some(f64::NAN));
    let mixed = shuffled(&rows);
    let columns = vec![("id", ids(&mixed)), ("t", times(&mixed)), ("labels", fixed(&mixed)), ("loss", losses(&mixed))];
    write(&folder.join("predictions"), columns, None);
    let outcome = score(folder, 2, &[]).unwrap();
    let (found, _) = read(&outcome.outputs["scores"]);
    let bits = |value: f64| if value.is_nan() { 1 } else { value.to_bits() };
    let found: Vec<u64> = found["loss"].as_primitive::<Float64Type>().values().iter().map(|&loss| bits(loss)).collect();
    assert_eq!(found, rows.iter().map(|row| bits(row.loss.unwrap())).collect::<Vec<_>>());
    assert!(outcome.metrics["loss"].is_nan());
}

#[test]
fn the_model_is_called_what_the_stage_or_the_file_says() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, rows) = (folder.path(), said());
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
    write(&path, columns(), Some("[]"));
    let message = score(folder, 1, &[]).err().unwrap().message;
    assert!(message.starts_with("`cwm.model` in the predictions is not a JSON object"), "{message}");
}

#[test]
fn every_fault_is_an_error_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    dataset(folder, &games());
    let path = folder.join("predictions");
    let told = |change: &dyn Fn(&mut Vec<Said>)| {
        let mut rows = said();
        change(&mut rows);
        plain(&path, &rows);
        let failure = score(folder, 2, &[]).err().expect("a failure");
        assert_eq!(failure.kind, FailureKind::Input);
        failure.message
    };
    let check = |change: &dyn Fn(&mut Vec<Said>), message: &str| assert_eq!(told(change), message);
    // 9 games of 31, 28, 25, 22, 19, 31, 28, 25 and 22 positions.
    check(
        &|rows| rows.retain(|row| row.game != 2 && !(row.game == 1 && row.t == 5)),
        "the predictions lack 26 of 231 positions, in 2 of 9 games: the first is t = 5 of game 1 (game1)",
    );
    check(
        &|rows| rows.clear(),
        "the predictions lack 231 of 231 positions, in 9 of 9 games: the first is t = 0 of game 0 (game0)",
    );
    check(
        &|rows| rows.push(rows[40].clone()),
        "row 231 of the predictions is of t = 9 of game 1 (game1), of which there was a row before",
    );
    check(
        &|rows| rows[33].t = 28,
        "row 33 of the predictions is of t = 28 of game 1 (game1), which has 28 positions, counted from 0",
    );
    check(&|rows| rows[7].t = -1, "row 7 of the predictions has a negative `t`");
    check(&|rows| rows[9].game = 99, "row 9 of the predictions names `game99`, which is the id of no game");
    check(&|rows| rows[2].labels[64] = 2, "row 2 of the predictions says 2 for label 64, which has 2 classes");
}

#[test]
fn files_of_another_form_are_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, rows) = (folder.path(), said());
    dataset(folder, &games());
    let path = folder.join("predictions");
    let told = |columns: Vec<(&str, ArrayRef)>| {
        write(&path, columns, None);
        score(folder, 1, &[]).err().expect("a failure").message
    };
    let check = |columns: Vec<(&str, ArrayRef)>, message: &str| assert_eq!(told(columns), message);
    let (id, t, labels) = (|| ("id", ids(&rows)), || ("t", times(&rows)), || ("labels", fixed(&rows)));
    check(vec![t(), labels()], "the predictions have no column `id` and none `game`; they have `t`, `labels`");
    check(vec![id(), labels()], "the predictions have no column `t`; they have `id`, `labels`");
    check(vec![id(), t()], "the predictions have no column `labels`; they have `id`, `t`");
    check(
        vec![id(), ("game", ids(&rows)), t(), labels()],
        "the predictions have a column `id` and a column `game`: leave one of them out",
    );
    check(
        vec![id(), ("t", losses(&rows)), labels()],
        "the column `t` of the predictions must hold whole numbers, not Float64",
    );
    check(vec![("id", times(&rows)), t(), labels()], "the column `id` of the predictions must hold text, not Int64");
    check(
        vec![id(), t(), ("labels", times(&rows))],
        "the column `labels` of the predictions must hold lists of 75 whole numbers, not Int64",
    );
    check(
        vec![id(), t(), labels(), ("loss", times(&rows))],
        "the column `loss` of the predictions must hold floating-point numbers, not Int64",
    );
    let mut short = rows.clone();
    short[5].labels.pop();
    check(
        vec![id(), t(), ("labels", lists::<UInt8Type>(&short, |label| label))],
        "row 5 of the predictions has 74 labels, not 75",
    );
    let wide = |class: u8| if class == 6 { 300 } else { i64::from(class) };
    check(
        vec![id(), t(), ("labels", lists::<Int64Type>(&rows, wide))],
        "row 0 of the predictions says 300 for label 60, which has 13 classes",
    );
    let mut unknown = rows.clone();
    unknown[6].loss = None;
    check(vec![id(), t(), labels(), ("loss", losses(&unknown))], "row 6 of the predictions has no `loss`");
    let places: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.game as i64 + 1)));
    check(
        vec![("game", places), t(), labels()],
        "row 209 of the predictions names game 9, and there are 9, counted from 0",
    );

    std::fs::write(&path, "no table").unwrap();
    let message = score(folder, 1, &[]).err().unwrap().message;
    assert!(message.contains("are no readable Parquet file"), "{message}");
    plain(&path, &rows);
    let whole = std::fs::read(&path).unwrap();
    let mut damaged = whole.clone();
    damaged[40..400].fill(0xff);
    std::fs::write(&path, damaged).unwrap();
    let message = score(folder, 1, &[]).err().unwrap().message;
    assert!(message.starts_with("the predictions cannot be read to their end: "), "{message}");
}

#[test]
fn a_checkpoint_and_predictions_have_parameters_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), &games());
    plain(&folder.path().join("predictions"), &said());
    model(folder.path(), |_| {});
    let text = |name: &'static str, value: &str| (name, Value::Text(value.into()));
    let message = score(folder.path(), 1, &[text("family", "slice")]).err().unwrap().message;
    assert_eq!(message, "`family` belongs to a checkpoint; predictions have no use for it");
    let message = evaluate(folder.path(), 1, &[text("name", "gru")]).err().unwrap().message;
    assert_eq!(message, "`name` belongs to predictions; a checkpoint says that itself");
    let message = score(folder.path(), 1, &[text("family", "slice"), text("name", "gru")]).err().unwrap().message;
    assert_eq!(message, "parameter `family` belongs to checkpoints, and `name` to predictions");
    let checked = |given: &[&str]| Evaluate.check_inputs(given);
    assert_eq!((checked(&["checkpoint", "games"]), checked(&["games", "predictions"])), (None, None));
    assert!(checked(&["games"]).unwrap().starts_with("lacks its model"));
    assert!(checked(&["checkpoint", "predictions"]).unwrap().starts_with("has two models"));
}

#[test]
fn an_id_of_several_games_names_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = DatasetWriter::create(&folder.path().join("dataset"), 9).unwrap();
    for index in 0..2 {
        writer.push(DatasetRow { index, id: "game0", tokens: &[START], result: "*", labels: None }).unwrap();
    }
    writer.finish().unwrap();
    plain(&folder.path().join("predictions"), &said()[..1]);
    let message = score(folder.path(), 1, &[]).err().unwrap().message;
    assert_eq!(
        message,
        "row 0 of the predictions names `game0`, which is the id of several games: name games by their place"
    );
}

/// The authors' predictions, targets and summary, by way of the stage: games that carry their targets as labels.
#[test]
fn the_authors_metrics_come_out() {
    let shared = std::env::var_os("CWM_SHARED").map(std::path::PathBuf::from);
    let shared = shared.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"));
    let Ok(golden) = std::fs::read(shared.join("parity/metrics.json")) else {
        println!("skipped: no reference data at {} (set CWM_SHARED)", shared.display());
        return;
    };
    let golden: serde_json::Value = serde_json::from_slice(&golden).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (mut rows, mut game) = (Vec::new(), 0);
    let mut writer = DatasetWriter::create(&folder.path().join("dataset"), 9).unwrap().labelled(true);
    let bytes = |labels: &serde_json::Value| -> Vec<u8> { serde_json::from_value(labels.clone()).unwrap() };
    for batch in golden["batches"].as_array().unwrap() {
        for row in 0..batch["pad"].as_array().unwrap().len() {
            let real = batch["pad"][row].as_array().unwrap().iter().filter(|pad| pad.as_u64() == Some(0)).count();
            let targets: Vec<Vec<u8>> = (0..real).map(|t| bytes(&batch["target"][row][t])).collect();
            let id = format!("game{game}");
            let tokens = vec![START; real];
            let labels = targets.concat();
            writer
                .push(DatasetRow { index: game, id: &id, tokens: &tokens, result: "*", labels: Some(&labels) })
                .unwrap();
            for (t, target) in targets.iter().enumerate() {
                let labels = bytes(&batch["pred"][row][t]);
                // Their logits are 3 for the predicted class and 0 for the others.
                let of = |label: usize| {
                    let sum = 3f64.exp() + classes(label) as f64 - 1.0;
                    sum.ln() - if labels[label] == target[label] { 3.0 } else { 0.0 }
                };
                let loss = Some((0..LABELS).map(of).sum::<f64>() / LABELS as f64);
                rows.push(Said { game: game as usize, t: t as i64, labels, loss });
            }
            game += 1;
        }
    }
    writer.finish().unwrap();
    let rows = shuffled(&rows);
    let columns = vec![("id", ids(&rows)), ("t", times(&rows)), ("labels", fixed(&rows)), ("loss", losses(&rows))];
    write(&folder.path().join("predictions"), columns, None);
    let outcome = score(folder.path(), 2, &[]).unwrap();
    let summary = |name: &str| golden["summary"][name].as_f64().unwrap();
    let near = |found: f64, name: &str, tolerance: f64| {
        assert!((found - summary(name)).abs() < tolerance, "{name}: {found}, not {}", summary(name));
    };
    near(outcome.metrics["loss"], "val/loss", 1e-6);
    near(outcome.metrics["exact"], "val/overall/full_exact", 1e-12);
    near(outcome.metrics["labelwise"], "val/overall/partial_exact", 3e-7);
    near(outcome.metrics["trajectory"], "val/game_exact", 1e-12);

    let (found, _) = read(&outcome.outputs["scores"]);
    let mut bins: HashMap<u32, (f64, f64, f64)> = HashMap::new();
    let width = golden["bin_size"].as_u64().unwrap() as u32;
    for row in 0..found.num_rows() {
        let bin = bins.entry(found["t"].as_primitive::<UInt32Type>().value(row) / width).or_default();
        bin.0 += 1.0;
        bin.1 += f64::from(u8::from(found["exact"].as_boolean().value(row)));
        bin.2 += f64::from(found["correct"].as_primitive::<UInt8Type>().value(row)) / LABELS as f64;
    }
    assert_eq!(bins.len(), 4);
    for (bin, (positions, exact, labelwise)) in bins {
        let name = |what: &str| format!("val/bin{:03}-{:03}/{what}", bin * width, (bin + 1) * width);
        near(positions, &name("n"), 1e-12);
        near(exact / positions, &name("full_exact"), 1e-12);
        near(labelwise / positions, &name("partial_exact"), 3e-7);
    }
}
