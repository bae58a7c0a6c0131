//! The stage as a whole, on scores made here.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt32Array};
use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Event, Failure, FailureKind, Value};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;

use crate::Compare;
use crate::bootstrap::{interval, mean};

/// Writes scores of a model: for each game the losses of its positions.
fn write(path: &Path, family: &str, games: &[(u32, Vec<f64>)]) {
    write_first(path, family, games, usize::MAX);
}

/// As [`write`], but only the first rows have their loss.
fn write_first(path: &Path, family: &str, games: &[(u32, Vec<f64>)], with_loss: usize) {
    let rows = || games.iter().flat_map(|(game, losses)| losses.iter().map(move |loss| (*game, *loss)));
    let numbers: ArrayRef = Arc::new(UInt32Array::from_iter_values(rows().map(|row| row.0)));
    let losses = rows().enumerate().map(|(row, (_, loss))| (row < with_loss).then_some(loss));
    let losses: ArrayRef = Arc::new(Float64Array::from_iter(losses));
    let columns = [("game", numbers, false), ("loss", losses, true)];
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

fn run(folder: &Path, scores: &[(&str, &str, Vec<(u32, Vec<f64>)>)], expect: &str) -> Result<Outcome, Failure> {
    let mut trial = Trial::new(folder.join("work")).with("expect", Value::Text(expect.into()));
    for (number, (label, family, games)) in scores.iter().enumerate() {
        let path = folder.join(number.to_string());
        write(&path, family, games);
        trial = trial.labelled("scores", label.parse().unwrap(), path);
    }
    trial.with("resamples", Value::Int(500)).run(&Compare)
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
    let refused =
        |scores: &[(&str, &str, Vec<(u32, Vec<f64>)>)]| run(folder.path(), scores, "nothing").err().unwrap().message;
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
    let mut told = Vec::new();
    let stopped = interval(&[(1, 0.5), (1, 0.25)], 0.95, 1_000, 0, |resample| {
        told.push(resample);
        if resample == 3 { Err(Failure::cancelled()) } else { Ok(()) }
    });
    assert_eq!((stopped.unwrap_err().kind, told), (FailureKind::Cancelled, vec![1, 2, 3]));
    let folder = tempfile::tempdir().unwrap();
    let scores = [
        (BASELINE.0, BASELINE.1, games(9, 0.0)),
        ("e[family=slice,seed=0,test=held_out]", "slice", games(9, -0.1)),
        ("e[family=mamba2,seed=0,test=held_out]", "mamba2", games(9, -0.2)),
    ];
    let outcome = run(folder.path(), &scores, "nothing").unwrap();
    let last = outcome.events.iter().rev().find_map(|event| match event {
        Event::Progress { done, total, unit } if unit == "resamples" => Some((*done, *total)),
        _ => None,
    });
    assert_eq!(last, Some((1_000, Some(1_000))), "500 for each of two models");
}

#[test]
fn the_same_scores_give_the_same_bytes_and_their_order_means_nothing() {
    let bytes = |turn: usize| {
        let folder = tempfile::tempdir().unwrap();
        let mut scores = [
            (BASELINE.0, BASELINE.1, games(90, 0.0)),
            ("e[family=slice,seed=0,test=held_out]", "slice", games(90, -0.1)),
            ("e[family=mamba2,seed=0,test=held_out]", "mamba2", games(90, 0.1)),
        ];
        scores.rotate_left(turn);
        std::fs::read(&run(folder.path(), &scores, "nothing").unwrap().outputs["differences"]).unwrap()
    };
    assert_eq!(bytes(0), bytes(0));
    assert_eq!(bytes(0), bytes(1));
}

/// Of games whose differences are normal with deviation 1, the interval of the mean is about 2 x 1.96 / sqrt(games) wide,
/// and holds the true mean in about 95 of 100 experiments.
#[test]
fn the_interval_is_as_wide_as_the_theory_has_it() {
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
    let (mut held, mut width) = (0, 0.0);
    for experiment in 0..200 {
        let pairs: Vec<_> = (0..100).map(|_| (1, normal())).collect();
        let (low, high) = interval(&pairs, 0.95, 400, experiment, |_| Ok(())).unwrap();
        assert!(low < mean(&pairs) && mean(&pairs) < high);
        held += usize::from(low < 0.0 && 0.0 < high);
        width += (high - low) / 200.0;
    }
    assert!((180..=199).contains(&held), "{held} of 200");
    assert!((width - 0.392).abs() < 0.03, "{width}");
}

proptest! {
    /// Whatever the numbers: an interval of finite ones is finite, in order, and within the games' own means.
    #[test]
    fn intervals_are_in_order(sums in prop::collection::vec(-1e3f64..1e3, 1..20), confidence in 0.01f64..0.99, seed: u64) {
        let pairs: Vec<_> = sums.iter().enumerate().map(|(game, sum)| (game as u64 % 3 + 1, *sum)).collect();
        let (low, high) = interval(&pairs, confidence, 100, seed, |_| Ok(())).unwrap();
        let means = || pairs.iter().map(|(positions, sum)| sum / *positions as f64);
        prop_assert!(low <= high);
        prop_assert!(low >= means().fold(f64::INFINITY, f64::min) - 1e-9);
        prop_assert!(high <= means().fold(f64::NEG_INFINITY, f64::max) + 1e-9);
    }
}
