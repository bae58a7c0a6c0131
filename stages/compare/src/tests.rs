//! The stage as a whole, on scores made here.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, UInt8Array, UInt32Array};
use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Cancellation, Event, Failure, FailureKind, Label, Value};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use crate::Compare;

mod probability;
mod refusals;

/// Writes scores of a model with seed 0: for each game the losses of its positions.
fn write(path: &Path, family: &str, games: &[(u32, Vec<f64>)]) {
    write_first(path, family, games, usize::MAX);
}

/// As [`write`], but only the first rows have their loss.
fn write_first(path: &Path, family: &str, games: &[(u32, Vec<f64>)], with_loss: usize) {
    write_seed(path, family, 0, games, with_loss);
}

/// Labels that are right where the loss is this: the fewer, the larger it is.
fn correct(loss: f64) -> u8 {
    (75.0 * (1.0 - loss.clamp(0.0, 1.0))).round() as u8
}

/// True if a position of this loss counts as exact.
fn is_exact(loss: f64) -> bool {
    loss < 0.55
}

/// As [`write_first`], of a model with this family and seed.
fn write_seed(path: &Path, family: &str, seed: i64, games: &[(u32, Vec<f64>)], with_loss: usize) {
    let rows = || games.iter().flat_map(|(game, losses)| losses.iter().map(move |loss| (*game, *loss)));
    let numbers: ArrayRef = Arc::new(UInt32Array::from_iter_values(rows().map(|row| row.0)));
    let losses = rows().enumerate().map(|(row, (_, loss))| (row < with_loss).then_some(loss));
    let losses: ArrayRef = Arc::new(Float64Array::from_iter(losses));
    let correct: ArrayRef = Arc::new(UInt8Array::from_iter_values(rows().map(|(_, loss)| correct(loss))));
    let exact: ArrayRef = Arc::new(BooleanArray::from_iter(rows().map(|(_, loss)| Some(is_exact(loss)))));
    let columns =
        [("game", numbers, false), ("correct", correct, false), ("exact", exact, false), ("loss", losses, true)];
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let model = format!(r#"{{"family":"{family}","size":"d64/l1","seed":{seed}}}"#);
    let properties = WriterProperties::builder()
        .set_key_value_metadata(Some(vec![KeyValue::new("cwm.model".to_owned(), model)]))
        .set_max_row_group_row_count(Some(7))
        .build();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// Games of 1 to 9 positions with losses around 0.5, and `shift` added to each.
fn games(count: u32, shift: f64) -> Vec<(u32, Vec<f64>)> {
    let loss = |game: u32, t: u32| 0.5 + f64::from((game * 37 + t * 11) % 17) / 100.0;
    // What is added differs from game to game, and is `shift` in the mean.
    let added = |game: u32| shift * (1.0 + (f64::from(game % 5) - 2.0) / 8.0);
    (0..count).map(|game| (game, (0..=game % 9).map(|t| loss(game, t) + added(game)).collect())).collect()
}

/// The label, the family and the games of a scores file.
type Scored<'a> = (&'a str, &'a str, Vec<(u32, Vec<f64>)>);

fn run(folder: &Path, scores: &[Scored<'_>], expect: &str) -> Result<Outcome, Failure> {
    trial(folder, scores).with("expect", Value::Text(expect.into())).run(&Compare)
}

/// A trial of 500 resamples. The seed in each file is that of its label, otherwise 0.
fn trial(folder: &Path, scores: &[Scored<'_>]) -> Trial {
    let mut trial = Trial::new(folder.join("work")).with("resamples", Value::Int(500));
    for (number, (label, family, games)) in scores.iter().enumerate() {
        let path = folder.join(number.to_string());
        let label: Label = label.parse().unwrap();
        let seed = label.coordinate("seed").map_or(0, |seed| seed.parse().unwrap());
        write_seed(&path, family, seed, games, usize::MAX);
        trial = trial.labelled("scores", label, path);
    }
    trial
}

fn lines(outcome: &Outcome) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(&outcome.outputs["differences"]).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const BASELINE: (&str, &str) = ("e[family=transformer,seed=0,test=held_out]", "transformer");

#[test]
fn the_difference_is_that_of_the_means_and_the_interval_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    let scores =
        [(BASELINE.0, BASELINE.1, games(90, 0.0)), ("e[family=slice,seed=0,test=held_out]", "slice", games(90, -0.1))];
    let outcome = run(folder.path(), &scores, "lower").unwrap();
    let line = &lines(&outcome)[0];
    let total = |games: &[(u32, Vec<f64>)]| games.iter().flat_map(|(_, losses)| losses).sum::<f64>();
    let positions: usize = scores[0].2.iter().map(|(_, losses)| losses.len()).sum();
    let number = |key: &str| line[key].as_f64().unwrap();
    let expected = (total(&scores[1].2) - total(&scores[0].2)) / positions as f64;
    assert!((number("difference") - expected).abs() < 1e-12, "{line}");
    assert!((number("loss") - number("baseline_loss") - expected).abs() < 1e-12, "{line}");
    assert!(number("low") < expected && expected < number("high") && number("high") < 0.0, "{line}");
    assert_eq!((line["games"].as_u64(), line["positions"].as_u64()), (Some(90), Some(positions as u64)));
    assert_eq!((line["family"].as_str(), line["test"].as_str()), (Some("slice"), Some("held_out")));
    assert_eq!(number("lower_games"), 1.0);
    // All 90 games agree, and no draw of signs out of 500 has as large a difference.
    assert_eq!(number("p"), 1.0 / 501.0);
    let mean = |games: &[(u32, Vec<f64>)], of: fn(f64) -> f64| {
        games.iter().flat_map(|(_, losses)| losses).map(|loss| of(*loss)).sum::<f64>() / positions as f64
    };
    let metrics: [(&str, fn(f64) -> f64); 2] =
        [("labelwise", |loss| f64::from(correct(loss)) / 75.0), ("exact", |loss| f64::from(u8::from(is_exact(loss))))];
    for (metric, of) in metrics {
        let (ours, baseline) = (mean(&scores[1].2, of), mean(&scores[0].2, of));
        let close = |key: String, expected: f64| assert!((number(&key) - expected).abs() < 1e-12, "{key}: {line}");
        close(metric.to_owned(), ours);
        close(format!("baseline_{metric}"), baseline);
        close(format!("{metric}_difference"), ours - baseline);
        let (low, high) = (number(&format!("{metric}_low")), number(&format!("{metric}_high")));
        assert!(0.0 < low && low < ours - baseline && ours - baseline < high, "{line}");
    }
}

#[test]
fn seeds_of_one_model_are_averaged() {
    let folder = tempfile::tempdir().unwrap();
    let scores = [
        (BASELINE.0, BASELINE.1, games(40, 0.0)),
        ("e[family=slice,seed=0,test=held_out]", "slice", games(40, -0.3)),
        ("e[family=slice,seed=1,test=held_out]", "slice", games(40, 0.1)),
    ];
    let averaged = lines(&run(folder.path(), &scores, "nothing").unwrap());
    let alone = [scores[0].clone(), ("e[family=slice,test=held_out]", "slice", games(40, -0.1))];
    let alone = lines(&run(folder.path(), &alone, "nothing").unwrap());
    assert_eq!((averaged.len(), averaged[0]["runs"].as_u64()), (1, Some(2)));
    let close = |key: &str| (averaged[0][key].as_f64().unwrap() - alone[0][key].as_f64().unwrap()).abs() < 1e-12;
    assert!(["difference", "low", "high"].into_iter().all(close), "{averaged:?} {alone:?}");
}

#[test]
fn the_draws_can_be_stopped_and_are_shown_as_progress() {
    let folder = tempfile::tempdir().unwrap();
    let scores = [
        (BASELINE.0, BASELINE.1, games(9, 0.0)),
        ("e[family=slice,seed=0,test=held_out]", "slice", games(9, -0.1)),
        ("e[family=mamba2,seed=0,test=held_out]", "mamba2", games(9, -0.2)),
        ("e[family=transformer,seed=0,test=random]", "transformer", games(7, 0.0)),
        ("e[family=slice,seed=0,test=random]", "slice", games(7, -0.2)),
    ];
    let outcome = run(folder.path(), &scores, "nothing").unwrap();
    let last = outcome.events.iter().rev().find_map(|event| match event {
        Event::Progress { done, total, unit } if unit == "resamples" => Some((*done, *total)),
        _ => None,
    });
    assert_eq!(last, Some((1_000, Some(1_000))), "500 for each of two test sets");
    let cancellation = Cancellation::default();
    cancellation.cancel();
    let path = folder.path().join("0");
    let trial = Trial::new(folder.path().join("stopped")).labelled("scores", BASELINE.0.parse().unwrap(), path);
    assert_eq!(trial.run_until(&Compare, cancellation).err().unwrap().kind, FailureKind::Cancelled);
}

#[test]
fn the_same_scores_give_the_same_bytes_and_neither_order_nor_cores_mean_anything() {
    let bytes = |turn: usize, cores: usize| {
        let folder = tempfile::tempdir().unwrap();
        let mut scores = [
            (BASELINE.0, BASELINE.1, games(90, 0.0)),
            ("e[family=slice,seed=0,test=held_out]", "slice", games(90, -0.1)),
            ("e[family=mamba2,seed=0,test=held_out]", "mamba2", games(90, 0.1)),
        ];
        scores.rotate_left(turn);
        let trial = trial(folder.path(), &scores).cores(cores);
        std::fs::read(&trial.run(&Compare).unwrap().outputs["differences"]).unwrap()
    };
    assert_eq!(bytes(0, 2), bytes(0, 2));
    assert_eq!(bytes(0, 2), bytes(1, 1));
    assert_eq!(bytes(0, 2), bytes(2, 5));
}

#[test]
fn every_two_models_are_compared_where_that_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let scores = [
        (BASELINE.0, BASELINE.1, games(40, 0.0)),
        ("e[family=slice,seed=0,test=held_out]", "slice", games(40, -0.1)),
        ("e[family=mamba2,seed=0,test=held_out]", "mamba2", games(40, 0.1)),
        ("e[family=slice,seed=0,test=other]", "slice", games(20, 0.0)),
    ];
    let all = |trial: Trial| trial.with("pairs", Value::Text("all".into())).run(&Compare);
    let found = lines(&all(trial(folder.path(), &scores)).unwrap());
    let pair = |line: &serde_json::Value| ["family", "baseline"].map(|key| line[key].as_str().unwrap().to_owned());
    let pairs: Vec<_> = found.iter().map(pair).collect();
    assert_eq!(pairs, [["slice", "mamba2"], ["transformer", "mamba2"], ["transformer", "slice"]]);
    assert_eq!(found[0]["baseline_size"].as_str(), Some("d64/l1"));
    // The result of a pair does not depend on which others there are: the games are drawn alike.
    let beside = lines(&run(folder.path(), &scores[..3], "nothing").unwrap());
    let slice = beside.iter().find(|line| line["family"] == "slice").unwrap();
    let [low, high, p] = ["low", "high", "p"].map(|key| slice[key].as_f64().unwrap());
    // The other way round, the ends change places.
    let [other_low, other_high, other_p] = ["low", "high", "p"].map(|key| found[2][key].as_f64().unwrap());
    assert_eq!([low, high, p], [-other_high, -other_low, other_p]);
    let message = |result: Result<Outcome, Failure>| result.err().unwrap().message;
    assert_eq!(
        message(all(trial(folder.path(), &scores[3..]))),
        "there are no two models with losses on one test set: nothing to compare"
    );
    let expecting = trial(folder.path(), &scores).with("expect", Value::Text("lower".into()));
    assert!(message(all(expecting)).contains("`expect` must be `nothing` with `pairs: all`"));
}
