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
    assert_eq!(texts(&overall, "test"), ["a", "random_uniform"]);
    assert_eq!(texts(&overall, "family"), ["transformer", "transformer"]);
    assert_eq!(texts(&overall, "size"), ["d32/l1", "d32/l1"]);
    assert_eq!(overall["seed"].as_primitive::<Int64Type>().values(), &[1, 1]);
    assert_eq!(counts(&overall, "parameters"), [1000, 1000]);
    assert_eq!(counts(&overall, "games"), [3, 4]);
    assert_eq!(texts(&overall, "status"), ["diverged", "diverged"]);
    assert_eq!((counts(&overall, "trained_games"), counts(&overall, "steps")), (vec![9, 9], vec![5, 5]));
    assert_eq!(floats(&overall, "epochs"), [2.5, 2.5]);
    assert_eq!((floats(&overall, "lr"), counts(&overall, "warmup")), (vec![0.003, 0.003], vec![100, 100]));
    // What the scores do not tell, and a floor to which nothing falls.
    assert_eq!((overall["beta2"].null_count(), overall["lr_floor"].null_count()), (2, 2));
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
    let names = ["e[seed=0]", "e[seed=1]", "e[seed=2]", "e[seed=3]", "e[seed=4]"];
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
fn bad_files_are_told_apart() {
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
    check(&|path| write_scores(path, None, &scores(1, 1)), "do not say the family of their model");
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

/// The value that the share `share` of `sorted` does not exceed.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

/// Games drawn one by one from the rows themselves, by another generator: the ends may differ by what 4,000 draws of
/// each leave open, a tenth of the interval.
#[test]
fn intervals_agree_with_a_bootstrap_over_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut positions = scores(5, 60);
    // Losses of one magnitude: otherwise a few games decide the mean, and its distribution is all corners.
    for (row, position) in (0u32..).zip(&mut positions) {
        position.loss = Some(f64::from(row % 7) + f64::from(position.game % 5) / 2.0);
    }
    let outcome = run_drawn(folder.path(), &[("e[test=held_out]", &positions)], 4_000).unwrap();
    let games: Vec<Vec<&Position>> =
        (0..60).map(|game| positions.iter().filter(|position| position.game == game).collect()).collect();
    let mut state = 1u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % 60
    };
    let draws: Vec<Vec<usize>> = (0..4_000).map(|_| (0..60).map(|_| draw()).collect()).collect();
    let check = |batch: &RecordBatch, row: usize, metric: &str, of: &dyn Fn(&[&Position]) -> Option<f64>| {
        let mut expected: Vec<f64> = draws
            .iter()
            .filter_map(|drawn| of(&drawn.iter().flat_map(|game| games[*game].iter().copied()).collect::<Vec<_>>()))
            .collect();
        expected.sort_by(f64::total_cmp);
        let (low, high) = (quantile(&expected, 0.025), quantile(&expected, 0.975));
        let found = ["low", "high"].map(|end| floats(batch, &format!("{metric}_{end}"))[row]);
        let near = (high - low) / 10.0;
        assert!(high > low, "{metric}");
        assert!((found[0] - low).abs() < near && (found[1] - high).abs() < near, "{metric}: {found:?} {low} {high}");
    };
    let mean = |drawn: &[&Position], from: u32, to: u32, of: &dyn Fn(&Position) -> f64| {
        let inside: Vec<_> = drawn.iter().filter(|position| (from..to).contains(&position.t)).collect();
        (!inside.is_empty()).then(|| inside.iter().map(|position| of(position)).sum::<f64>() / inside.len() as f64)
    };
    let loss = |position: &Position| position.loss.unwrap();
    let labelwise = |position: &Position| f64::from(position.correct()) / 75.0;
    let exact = |position: &Position| f64::from(u8::from(position.is_exact()));
    let metrics: [(&str, &dyn Fn(&Position) -> f64); 3] =
        [("loss", &loss), ("labelwise", &labelwise), ("exact", &exact)];
    let (overall, prefix) = (read(&outcome, "overall.parquet"), read(&outcome, "prefix.parquet"));
    for (metric, of) in metrics {
        check(&overall, 0, metric, &|drawn| mean(drawn, 0, 60, of));
        for (row, start) in [0, 20, 40].into_iter().enumerate() {
            check(&prefix, row, metric, &|drawn| mean(drawn, start, start + 20, of));
        }
    }
    let is_exact = |game: u32| games[game as usize].iter().all(|position| position.is_exact());
    check(&overall, 0, "trajectory", &|drawn| {
        let starts = drawn.iter().filter(|position| position.t == 0);
        Some(starts.filter(|position| is_exact(position.game)).count() as f64 / 60.0)
    });
}

#[test]
fn errors_agree_with_a_count_row_by_row() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (scores(8, 300), scores(9, 40));
    let files: [(&str, &[Position]); 2] = [("a", &first), ("b[test=random_uniform]", &second)];
    let errors = read(&run(folder.path(), &files, 20, 2).unwrap(), "errors.parquet");
    assert_eq!(errors.num_rows(), 150);
    let is_wrong = |position: &Position, index: u64| position.right >> index & 1 == 0;
    for row in 0..150 {
        let (positions, index) = ([&first, &second][row / 75], row as u64 % 75);
        let mut firsts: BTreeMap<u32, &Position> = BTreeMap::new();
        for position in positions.iter().filter(|position| !position.is_exact()) {
            firsts.entry(position.game).or_insert(position);
        }
        let wrong = positions.iter().filter(|position| is_wrong(position, index)).count() as u64;
        let first = firsts.values().filter(|position| is_wrong(position, index)).count() as u64;
        let found = ["index", "wrong", "first", "positions", "games"].map(|column| counts(&errors, column)[row]);
        assert_eq!(found, [index, wrong, first, positions.len() as u64, firsts.len() as u64]);
        assert!(wrong > first && first > 0);
        assert_eq!(texts(&errors, "label")[row], ["a", "b[test=random_uniform]"][row / 75]);
    }
}

#[test]
fn of_one_game_and_of_losses_that_are_not_finite_there_is_no_interval() {
    let folder = tempfile::tempdir().unwrap();
    let position = |game, t, loss| Position { game, t, right: 0, loss: Some(loss) };
    // Two games reach the first bin, one the second; the loss of a position in the first is infinite.
    let positions = [position(0, 0, f64::INFINITY), position(0, 1, 1.0), position(0, 2, 1.0), position(1, 0, 2.0)];
    let outcome = run(folder.path(), &[("e", &positions)], 2, 1).unwrap();
    let valid = |file: &str, column: &str| {
        let batch = read(&outcome, file);
        (0..batch.num_rows()).map(|row| batch[column].is_valid(row)).collect::<Vec<_>>()
    };
    for end in ["low", "high"] {
        assert_eq!(valid("prefix.parquet", &format!("loss_{end}")), [false, false]);
        assert_eq!(valid("prefix.parquet", &format!("exact_{end}")), [true, false]);
        assert_eq!(valid("prefix.parquet", &format!("labelwise_{end}")), [true, false]);
        assert_eq!(valid("overall.parquet", &format!("loss_{end}")), [false]);
        assert_eq!(valid("overall.parquet", &format!("trajectory_{end}")), [true]);
    }
    let alone = [position(7, 0, 1.0), position(7, 1, 2.0)];
    let overall = read(&run(folder.path(), &[("e", &alone)], 2, 1).unwrap(), "overall.parquet");
    let ends = ["loss_low", "labelwise_high", "exact_low", "trajectory_low"];
    assert_eq!(ends.map(|column| overall[column].null_count()), [1; 4]);
}

/// Models that were scored on the same games are drawn alike: what one has less of everywhere stays less at both ends.
#[test]
fn the_same_games_are_drawn_for_every_model() {
    let folder = tempfile::tempdir().unwrap();
    let one = scores(5, 90);
    let mut other = one.clone();
    other.iter_mut().for_each(|position| position.loss = position.loss.map(|loss| loss / 2.0));
    let outcome = run(folder.path(), &[("a", &one), ("b", &other)], 20, 2).unwrap();
    for (file, rows) in [("overall.parquet", 1), ("prefix.parquet", 3)] {
        let batch = read(&outcome, file);
        for column in ["loss_low", "loss_high"] {
            let halves: Vec<f64> = floats(&batch, column)[..rows].iter().map(|loss| loss / 2.0).collect();
            assert_eq!(halves, floats(&batch, column)[rows..]);
        }
        assert_eq!(floats(&batch, "exact_low")[..rows], floats(&batch, "exact_low")[rows..]);
    }
}

/// Programs of others need not say which labels are right.
#[test]
fn without_the_labels_that_are_right_there_are_no_errors() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, bare) = (folder.path().join("whole"), folder.path().join("bare"));
    write_scores(&whole, Some(MODEL), &scores(2, 5));
    let file = ParquetRecordBatchReaderBuilder::try_new(File::open(&whole).unwrap()).unwrap();
    let batch = file.build().unwrap().next().unwrap().unwrap();
    let kept: Vec<usize> =
        (0..batch.num_columns()).filter(|at| !batch.schema().field(*at).name().starts_with("right")).collect();
    let batch = batch.project(&kept).unwrap();
    let mut writer =
        datafusion::parquet::arrow::ArrowWriter::try_new(File::create(&bare).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let trial = Trial::new(folder.path().join("trial"));
    let trial =
        trial.labelled("scores", label("a[family=gru,size=d64/l1]"), &bare).labelled("scores", label("b"), &whole);
    let outcome = trial.run(&Bins).unwrap();
    assert_eq!(texts(&read(&outcome, "errors.parquet"), "label"), vec!["b"; 75]);
    assert_eq!(read(&outcome, "overall.parquet").num_rows(), 2);
}
