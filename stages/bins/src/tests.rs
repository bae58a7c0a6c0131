//! The whole stage on made-up scores, against sums done here by other means.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Failure, Label, Value};
use datafusion::arrow::array::AsArray;
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{Float64Type, Int64Type, UInt64Type};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::Bins;
use crate::synthetic::{Position, scores, write_scores};

mod errors;
mod intervals;

const MODEL: &str = r#"{"family":"transformer","size":"d32/l1","parameters":1000,"seed":1,"status":"diverged",
    "games":9,"steps":5,"steps_per_epoch":2,"lr":0.003,"warmup":100,"schedule":"constant","lr_floor":0.1}"#;

fn label(text: &str) -> Label {
    text.parse().unwrap()
}

fn read(outcome: &Outcome, file: &str) -> RecordBatch {
    let file = File::open(outcome.outputs["bins"].join(file)).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let schema = reader.schema().clone();
    let batches: Vec<_> = reader.build().unwrap().map(Result::unwrap).collect();
    concat_batches(&schema, &batches).unwrap()
}

fn floats(batch: &RecordBatch, column: &str) -> Vec<f64> {
    batch[column].as_primitive::<Float64Type>().values().to_vec()
}

fn counts(batch: &RecordBatch, column: &str) -> Vec<u64> {
    batch[column].as_primitive::<UInt64Type>().values().to_vec()
}

fn texts(batch: &RecordBatch, column: &str) -> Vec<String> {
    batch[column].as_string::<i32>().iter().map(|text| text.unwrap().to_owned()).collect()
}

fn run(folder: &Path, files: &[(&str, &[Position])], bin_width: i128, cores: usize) -> Result<Outcome, Failure> {
    run_trial(folder, files, Trial::new(folder.join("trial")).with("bin_width", Value::Int(bin_width)).cores(cores))
}

fn run_drawn(folder: &Path, files: &[(&str, &[Position])], resamples: i128) -> Result<Outcome, Failure> {
    run_trial(folder, files, Trial::new(folder.join("trial")).with("resamples", Value::Int(resamples)))
}

fn run_trial(folder: &Path, files: &[(&str, &[Position])], mut trial: Trial) -> Result<Outcome, Failure> {
    for (index, (name, positions)) in files.iter().enumerate() {
        let path = folder.join(index.to_string());
        write_scores(&path, Some(MODEL), positions);
        trial = trial.labelled("scores", label(name), path);
    }
    trial.run(&Bins)
}

/// The mean, through whole numbers: every made-up loss is a multiple of 2^-60.
fn mean_loss<'a>(positions: impl Iterator<Item = &'a Position> + Clone) -> f64 {
    let unit = 2f64.powi(60);
    let sum: i128 = positions.clone().map(|position| (position.loss.unwrap() * unit) as i128).sum();
    // `as` rounds once, to nearest even; the division by a power of two is exact.
    sum as f64 / unit / positions.count() as f64
}

#[test]
fn numbers_agree_with_sums_done_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let positions = scores(3, 500);
    let outcome = run(folder.path(), &[("evaluation[size=d32/l1,test=held_out]", &positions)], 20, 2).unwrap();

    let overall = read(&outcome, "overall.parquet");
    let total = positions.len() as f64;
    let mut games: BTreeMap<u32, bool> = BTreeMap::new();
    for position in &positions {
        *games.entry(position.game).or_insert(true) &= position.is_exact();
    }
    let trajectories = games.values().filter(|exact| **exact).count();
    assert!(trajectories > 50 && trajectories < 450, "the made-up scores should be mixed: {trajectories}");
    assert_eq!(counts(&overall, "games"), [500]);
    assert_eq!(counts(&overall, "positions"), [positions.len() as u64]);
    assert_eq!(floats(&overall, "loss"), [mean_loss(positions.iter())]);
    let correct: u64 = positions.iter().map(|position| u64::from(position.correct())).sum();
    assert_eq!(floats(&overall, "labelwise"), [correct as f64 / (75.0 * total)]);
    let exact = positions.iter().filter(|position| position.is_exact()).count();
    assert_eq!(floats(&overall, "exact"), [exact as f64 / total]);
    assert_eq!(floats(&overall, "trajectory"), [trajectories as f64 / 500.0]);

    let prefix = read(&outcome, "prefix.parquet");
    assert_eq!(counts(&prefix, "bin_start"), [0, 20, 40]);
    assert_eq!(counts(&prefix, "bin_end"), [20, 40, 60]);
    for (bin, start) in [0u32, 20, 40].into_iter().enumerate() {
        let inside = || positions.iter().filter(|position| (start..start + 20).contains(&position.t));
        let number = inside().count();
        assert_eq!(counts(&prefix, "positions")[bin], number as u64);
        assert_eq!(floats(&prefix, "loss")[bin], mean_loss(inside()));
        let exact = inside().filter(|position| position.is_exact()).count();
        assert_eq!(floats(&prefix, "exact")[bin], exact as f64 / number as f64);
        let correct: u64 = inside().map(|position| u64::from(position.correct())).sum();
        assert_eq!(floats(&prefix, "labelwise")[bin], correct as f64 / (75.0 * number as f64));
    }
}

#[test]
fn rows_are_named_and_sorted_by_label() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (scores(1, 3), scores(2, 4));
    let files: [(&str, &[Position]); 2] = [("z[test=random_uniform]", &second), ("a", &first)];
    let overall = read(&run(folder.path(), &files, 20, 2).unwrap(), "overall.parquet");
    assert_eq!(texts(&overall, "label"), ["a", "z[test=random_uniform]"]);
    assert_eq!(texts(&overall, "test"), ["held_out", "random_uniform"]);
    assert_eq!(texts(&overall, "family"), ["transformer", "transformer"]);
    assert_eq!(texts(&overall, "size"), ["d32/l1", "d32/l1"]);
    assert_eq!(overall["seed"].as_primitive::<Int64Type>().values(), &[1, 1]);
    assert_eq!(counts(&overall, "parameters"), [1000, 1000]);
    assert_eq!(counts(&overall, "games"), [3, 4]);
    assert_eq!(texts(&overall, "status"), ["diverged", "diverged"]);
    assert_eq!((counts(&overall, "trained_games"), counts(&overall, "steps")), (vec![9, 9], vec![5, 5]));
    assert_eq!(floats(&overall, "epochs"), [2.5, 2.5]);
    assert_eq!((floats(&overall, "lr"), counts(&overall, "warmup")), (vec![0.003, 0.003], vec![100, 100]));
    // What the scores do not have, and a floor to which nothing falls.
    assert_eq!((overall["beta2"].null_count(), overall["lr_floor"].null_count()), (2, 2));
}

#[test]
fn a_test_set_that_was_validated_on_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let models = [r#"{"validated_on_test":true,"checkpoint":"best","#, r#"{"validated_on_test":false,"#, "{"];
    let mut trial = Trial::new(folder.path().join("trial"));
    for (seed, model) in models.iter().enumerate() {
        let path = folder.path().join(seed.to_string());
        write_scores(&path, Some(&MODEL.replacen('{', model, 1)), &scores(1, 3));
        trial = trial.labelled("scores", label(&format!("e[seed={seed}]")), path);
    }
    let overall = read(&trial.run(&Bins).unwrap(), "overall.parquet");
    let validated: Vec<_> = overall["validated_on_test"].as_boolean().iter().collect();
    assert_eq!(validated, [Some(true), Some(false), None]);
    let checkpoints: Vec<_> = overall["checkpoint"].as_string::<i32>().iter().collect();
    assert_eq!(checkpoints, [Some("best"), None, None]);
}

#[test]
fn losses_that_are_not_finite_stay_so() {
    let folder = tempfile::tempdir().unwrap();
    let position = |t, loss| Position { game: 0, t, right: 0, loss: Some(loss) };
    let positions = [position(0, 1.0), position(1, f64::INFINITY), position(2, 2.0), position(3, f64::NAN)];
    let outcome = run(folder.path(), &[("e", &positions)], 2, 1).unwrap();
    assert!(floats(&read(&outcome, "overall.parquet"), "loss")[0].is_nan());
    let bins = floats(&read(&outcome, "prefix.parquet"), "loss");
    assert!(bins[0] == f64::INFINITY && bins[1].is_nan(), "{bins:?}");
}

#[test]
fn bytes_do_not_depend_on_the_number_of_cores() {
    let folder = tempfile::tempdir().unwrap();
    let parts: Vec<_> = (0..5).map(|seed| scores(seed, 400)).collect();
    let names = ["e[test=a]", "e[test=b]", "e[test=c]", "e[test=d]", "e[test=e]"];
    let files: Vec<(&str, &[Position])> = names.into_iter().zip(parts.iter().map(Vec::as_slice)).collect();
    let bytes = |cores| {
        let outcome = run(folder.path(), &files, 20, cores).unwrap();
        ["overall.parquet", "prefix.parquet", "errors.parquet"]
            .map(|file| std::fs::read(outcome.outputs["bins"].join(file)).unwrap())
    };
    let one = bytes(1);
    assert_eq!(one, bytes(1));
    assert_eq!(one, bytes(2));
    assert_eq!(one, bytes(3));
}

#[test]
fn bad_files_are_distinguished() {
    let check = |write: &dyn Fn(&Path), message: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores");
        write(&path);
        let trial = Trial::new(folder.path().join("trial")).labelled("scores", label("e[size=d32/l1]"), &path);
        let found = trial.run(&Bins).err().expect("a failure").message;
        assert!(found.contains(message), "{found}");
    };
    check(&|path| std::fs::write(path, "not Parquet").unwrap(), "the scores of e[size=d32/l1] are no readable Parquet");
    check(&|path| write_scores(path, Some(MODEL), &[]), "the scores of e[size=d32/l1] hold no positions");
    check(&|path| write_scores(path, None, &scores(1, 1)), "have no family of their model");
    check(
        &|path| write_scores(path, Some("[1]"), &scores(1, 1)),
        "`cwm.model` in the scores of e[size=d32/l1] is not a JSON object",
    );
    check(
        &|path| {
            write_scores(path, Some(MODEL), &scores(1, 3_000));
            let mut bytes = std::fs::read(path).unwrap();
            bytes[4..2_000].fill(0xff);
            std::fs::write(path, bytes).unwrap();
        },
        "cannot read the scores of e[size=d32/l1]",
    );
}
