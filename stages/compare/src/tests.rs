//! The stage as a whole, on scores made here.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, UInt8Array, UInt32Array};
use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Cancellation, Event, Failure, FailureKind, Value};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use crate::Compare;

/// Writes scores of a model: for each game the losses of its positions.
fn write(path: &Path, family: &str, games: &[(u32, Vec<f64>)]) {
    write_first(path, family, games, usize::MAX);
}

/// Labels that are right where the loss is this: the fewer, the larger it is.
fn correct(loss: f64) -> u8 {
    (75.0 * (1.0 - loss.clamp(0.0, 1.0))).round() as u8
}

/// Whether a position of this loss counts as exact.
fn is_exact(loss: f64) -> bool {
    loss < 0.55
}

/// As [`write`], but only the first rows have their loss.
fn write_first(path: &Path, family: &str, games: &[(u32, Vec<f64>)], with_loss: usize) {
    let rows = || games.iter().flat_map(|(game, losses)| losses.iter().map(move |loss| (*game, *loss)));
    let numbers: ArrayRef = Arc::new(UInt32Array::from_iter_values(rows().map(|row| row.0)));
    let losses = rows().enumerate().map(|(row, (_, loss))| (row < with_loss).then_some(loss));
    let losses: ArrayRef = Arc::new(Float64Array::from_iter(losses));
    let correct: ArrayRef = Arc::new(UInt8Array::from_iter_values(rows().map(|(_, loss)| correct(loss))));
    let exact: ArrayRef = Arc::new(BooleanArray::from_iter(rows().map(|(_, loss)| Some(is_exact(loss)))));
    let columns =
        [("game", numbers, false), ("correct", correct, false), ("exact", exact, false), ("loss", losses, true)];
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let model = format!(r#"{{"family":"{family}","size":"d64/l1","seed":0}}"#);
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

/// A trial of 500 resamples.
fn trial(folder: &Path, scores: &[Scored<'_>]) -> Trial {
    let mut trial = Trial::new(folder.join("work")).with("resamples", Value::Int(500));
    for (number, (label, family, games)) in scores.iter().enumerate() {
        let path = folder.join(number.to_string());
        write(&path, family, games);
        trial = trial.labelled("scores", label.parse().unwrap(), path);
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
    // All 90 games speak for it, and no draw of signs out of 500 says as much.
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
fn what_is_expected_and_does_not_hold_fails_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let mut scores = [
        (BASELINE.0, BASELINE.1, games(90, 0.0)),
        ("e[family=slice,seed=0,test=held_out]", "slice", games(90, -0.1)),
        ("e[family=mamba2,seed=0,test=held_out]", "mamba2", games(90, 0.1)),
    ];
    assert_eq!(lines(&run(folder.path(), &scores, "nothing").unwrap()).len(), 2, "a fault of nobody's");
    let message = run(folder.path(), &scores, "lower").err().unwrap().message;
    assert!(
        message
            .starts_with("1 of 2 models are not below transformer, as was expected: mamba2 d64/l1 on held_out: +0.1"),
        "{message}"
    );
    // A loss that is not finite is not lower, and has no interval.
    scores[2].2 = games(90, f64::NEG_INFINITY);
    let line = &lines(&run(folder.path(), &scores, "nothing").unwrap())[0];
    assert_eq!((line["family"].as_str(), line["difference"].as_str()), (Some("mamba2"), Some("-inf")));
    assert!(line["high"].is_null());
    assert!(run(folder.path(), &scores, "lower").is_err());
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
fn scores_that_do_not_belong_together_are_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |scores: &[Scored<'_>]| run(folder.path(), scores, "nothing").err().unwrap().message;
    let slice = "e[family=slice,seed=0,test=held_out]";
    let baseline = (BASELINE.0, BASELINE.1, games(9, 0.0));
    assert_eq!(
        refused(&[baseline.clone(), (slice, "slice", games(8, 0.0))]),
        format!("{} and {slice} were not scored on the same games", BASELINE.0)
    );
    assert_eq!(
        refused(&[(slice, "slice", games(9, 0.0))]),
        "there are no scores of transformer d64/l1 on held_out to compare with"
    );
    assert_eq!(refused(&[baseline]), "all scores are of transformer: nothing to compare it with");
    let unsorted = vec![(1, vec![0.5]), (0, vec![0.5])];
    assert!(refused(&[(slice, "slice", unsorted)]).ends_with("are not sorted by game"));
    assert!(refused(&[(slice, "slice", Vec::new())]).ends_with("hold no positions"));
}

/// Predictions need not tell losses.
#[test]
fn models_without_losses_are_left_out_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let [baseline, slice, gru] = ["transformer", "slice", "gru"].map(|family| folder.path().join(family));
    let of = |family: &str| format!("e[family={family},seed=0,test=held_out]").parse().unwrap();
    let run = |paths: &[&Path], expect: &str| {
        let trial = Trial::new(folder.path().join("work")).with("expect", Value::Text(expect.into()));
        let scores = paths.iter().map(|path| (of(path.file_name().unwrap().to_str().unwrap()), path));
        let trial = scores.fold(trial, |trial, (label, path)| trial.labelled("scores", label, path));
        trial.with("resamples", Value::Int(100)).run(&Compare)
    };
    write(&baseline, "transformer", &games(30, 0.0));
    write(&slice, "slice", &games(30, -0.1));
    write_first(&gru, "gru", &games(30, -0.2), 0);
    let outcome = run(&[&baseline, &gru, &slice], "nothing").unwrap();
    let without = std::fs::read(&outcome.outputs["differences"]).unwrap();
    let left_out = "e[family=gru,seed=0,test=held_out] is left out: its predictions tell no losses";
    assert!(outcome.events.iter().any(|event| matches!(event, Event::Note(line) if line == left_out)));
    let outcome = run(&[&baseline, &slice], "nothing").unwrap();
    assert_eq!(without, std::fs::read(&outcome.outputs["differences"]).unwrap());
    let message = |paths: &[&Path], expect: &str| run(paths, expect).err().unwrap().message;
    assert_eq!(
        message(&[&baseline, &gru, &slice], "lower"),
        "e[family=gru,seed=0,test=held_out] holds no losses, so it cannot be below transformer"
    );
    assert_eq!(message(&[&baseline, &gru], "nothing"), "none of the models beside transformer has losses");
    write_first(&baseline, "transformer", &games(30, 0.0), 0);
    assert_eq!(
        message(&[&baseline, &slice], "nothing"),
        "the scores of transformer d64/l1 on held_out hold no losses to compare with"
    );
    write_first(&baseline, "transformer", &games(30, 0.0), 9);
    let some = message(&[&baseline, &slice], "nothing");
    assert!(some.contains(" lack the loss of ") && some.ends_with(" positions"), "{some}");
}

#[test]
fn the_draws_can_be_stopped_and_are_told_as_progress() {
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

/// Losses of one position a game; each list is a model.
fn of_single_positions(models: &[&[f64]]) -> Vec<Vec<(u32, Vec<f64>)>> {
    models.iter().map(|losses| (0..).zip(*losses).map(|(game, loss)| (game, vec![*loss])).collect()).collect()
}

/// With eight games there are 256 ways to set the signs, and each can be looked at.
#[test]
fn the_probability_is_that_of_all_signs() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = ([0.5, 0.4, 0.75, 0.5, 0.25, 0.6, 0.5, 0.3], [0.6, 0.5, 0.5, 0.75, 0.5, 0.7, 0.75, 0.2]);
    let differences: Vec<f64> = one.iter().zip(other).map(|(one, other)| one - other).collect();
    let sum = |signs: u32| -> f64 {
        (0..)
            .zip(&differences)
            .map(|(game, difference)| if signs >> game & 1 == 0 { *difference } else { -difference })
            .sum()
    };
    let extreme = (0..256).filter(|signs| sum(*signs).abs() >= sum(0).abs() - 1e-12).count();
    let expected = extreme as f64 / 256.0;
    assert!((0.1..0.4).contains(&expected), "{expected}");
    let games = of_single_positions(&[&other, &one]);
    let scores =
        [(BASELINE.0, BASELINE.1, games[0].clone()), ("e[family=slice,test=held_out]", "slice", games[1].clone())];
    let outcome = trial(folder.path(), &scores).with("resamples", Value::Int(20_000)).run(&Compare).unwrap();
    let found = lines(&outcome)[0]["p"].as_f64().unwrap();
    // The deviation of such a share is 0.003.
    assert!((found - expected).abs() < 0.015, "{found} {expected}");
}

/// Models that differ by chance alone: a probability below a tenth comes about a tenth of the times.
#[test]
fn where_there_is_no_difference_the_probability_is_anything() {
    let folder = tempfile::tempdir().unwrap();
    let mut state = 1u64;
    let mut loss = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let models: Vec<Vec<f64>> = (0..30).map(|_| (0..40).map(|_| loss()).collect()).collect();
    let labels: Vec<String> = (0..30).map(|number| format!("e[family=f{number:02},test=held_out]")).collect();
    let families: Vec<String> = (0..30).map(|number| format!("f{number:02}")).collect();
    let games = of_single_positions(&models.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let scores: Vec<Scored<'_>> =
        (0..30).map(|number| (labels[number].as_str(), families[number].as_str(), games[number].clone())).collect();
    let outcome = trial(folder.path(), &scores).with("pairs", Value::Text("all".into())).run(&Compare).unwrap();
    let found = lines(&outcome);
    assert_eq!(found.len(), 30 * 29 / 2);
    let below = |limit: f64| found.iter().filter(|line| line["p"].as_f64().unwrap() < limit).count() as f64 / 435.0;
    assert!((0.03..0.2).contains(&below(0.1)) && (0.35..0.65).contains(&below(0.5)), "{} {}", below(0.1), below(0.5));
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
    // What a pair says does not depend on which others there are: the games are drawn alike.
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
