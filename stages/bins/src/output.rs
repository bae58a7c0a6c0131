//! The three Parquet files of a `bins` folder (docs/formats.md, "bins").

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use cwm_contract::Failure;
use cwm_scores::metrics::{self, METRICS};
use datafusion::arrow::array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray, UInt64Array};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::WriterProperties;

use crate::bootstrap::{Interval, Intervals};
use crate::identity::Identity;
use crate::query::{Errors, PrefixBin};
use crate::run::ScoredMetrics;

/// Columns whose value may be unknown, beside metrics that scores may be without and the ends of intervals.
const NULLABLE: [&str; 13] = [
    "seed",
    "parameters",
    "status",
    "trained_games",
    "steps",
    "epochs",
    "lr",
    "warmup",
    "beta2",
    "weight_decay",
    "lr_floor",
    "checkpoint",
    "validated_on_test",
];

/// Writes `overall.parquet`: one row per label, in the order given.
pub(crate) fn write_overall(path: &Path, rows: &[ScoredMetrics]) -> Result<(), Failure> {
    let mut columns = identifying_columns(rows.iter().map(|row| &row.identity));
    columns.push(("games".to_owned(), counts(rows, |row| row.metrics.overall.games)));
    columns.push(("positions".to_owned(), counts(rows, |row| row.metrics.overall.positions)));
    columns.extend(metric_columns(rows, |row| &row.metrics.overall.values));
    for (place, metric) in metrics::OF_GAMES.iter().enumerate() {
        columns.push((metric.name.to_owned(), floats(rows, |row| row.metrics.overall.of_games[place])));
    }
    columns.extend(interval_columns(rows, |row| &row.intervals.overall));
    for (place, metric) in metrics::OF_GAMES.iter().enumerate() {
        columns.extend(ends(metric.name, rows, |row| row.intervals.of_games[place]));
    }
    let trainings = || rows.iter().map(|row| &row.training);
    columns.push((
        "status".to_owned(),
        Arc::new(StringArray::from_iter(trainings().map(|training| training.status.as_deref()))),
    ));
    columns.push((
        "trained_games".to_owned(),
        Arc::new(UInt64Array::from_iter(trainings().map(|training| training.games))),
    ));
    columns.push(("steps".to_owned(), Arc::new(UInt64Array::from_iter(trainings().map(|training| training.steps)))));
    columns.push(("epochs".to_owned(), Arc::new(Float64Array::from_iter(trainings().map(|training| training.epochs)))));
    columns.push(("lr".to_owned(), maybe_floats(rows, |row| row.training.lr)));
    columns.push(("warmup".to_owned(), Arc::new(UInt64Array::from_iter(trainings().map(|training| training.warmup)))));
    columns.push(("beta2".to_owned(), maybe_floats(rows, |row| row.training.beta2)));
    columns.push(("weight_decay".to_owned(), maybe_floats(rows, |row| row.training.weight_decay)));
    columns.push(("lr_floor".to_owned(), maybe_floats(rows, |row| row.training.lr_floor)));
    let checkpoints = trainings().map(|training| training.checkpoint.as_deref());
    columns.push(("checkpoint".to_owned(), Arc::new(StringArray::from_iter(checkpoints))));
    let validated = trainings().map(|training| training.validated_on_test);
    columns.push(("validated_on_test".to_owned(), Arc::new(BooleanArray::from_iter(validated))));
    write(path, columns)
}

/// Writes `prefix.parquet`: one row per label and bin, in the order given.
pub(crate) fn write_prefix(path: &Path, rows: &[ScoredMetrics]) -> Result<(), Failure> {
    let mut bins: Vec<(&Identity, &PrefixBin, &Intervals)> = Vec::new();
    for row in rows {
        let of = row.metrics.prefix.iter().zip(&row.intervals.bins);
        bins.extend(of.map(|(bin, intervals)| (&row.identity, bin, intervals)));
    }
    let mut columns = identifying_columns(bins.iter().map(|(identity, ..)| *identity));
    columns.push(("bin_start".to_owned(), counts(&bins, |(_, bin, _)| bin.start)));
    columns.push(("bin_end".to_owned(), counts(&bins, |(_, bin, _)| bin.end)));
    columns.push(("positions".to_owned(), counts(&bins, |(_, bin, _)| bin.positions)));
    columns.extend(metric_columns(&bins, |(_, bin, _)| &bin.values));
    columns.extend(interval_columns(&bins, |(.., intervals)| *intervals));
    write(path, columns)
}

/// Writes `errors.parquet`: one row per label (of a cell) that has which are right, and label (of a position).
pub(crate) fn write_errors(path: &Path, rows: &[ScoredMetrics]) -> Result<(), Failure> {
    let mut counted: Vec<(&Identity, &Errors, usize)> = Vec::new();
    for row in rows {
        if let Some(errors) = &row.metrics.errors {
            counted.extend((0..errors.wrong.len()).map(|index| (&row.identity, errors, index)));
        }
    }
    let mut columns = identifying_columns(counted.iter().map(|(identity, ..)| *identity));
    columns.push(("index".to_owned(), counts(&counted, |(.., index)| *index as u64)));
    columns.push(("wrong".to_owned(), counts(&counted, |(_, errors, index)| errors.wrong[*index])));
    columns.push(("first".to_owned(), counts(&counted, |(_, errors, index)| errors.first[*index])));
    columns.push(("positions".to_owned(), counts(&counted, |(_, errors, _)| errors.positions)));
    columns.push(("games".to_owned(), counts(&counted, |(_, errors, _)| errors.games)));
    write(path, columns)
}

type Column = (String, ArrayRef);

fn identifying_columns<'a>(identities: impl Iterator<Item = &'a Identity> + Clone) -> Vec<Column> {
    let text = |read: fn(&Identity) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(identities.clone().map(read)))
    };
    vec![
        ("label".to_owned(), text(|identity| &identity.label)),
        ("family".to_owned(), text(|identity| &identity.model.family)),
        ("size".to_owned(), text(|identity| &identity.model.size)),
        ("seed".to_owned(), Arc::new(Int64Array::from_iter(identities.clone().map(|identity| identity.model.seed)))),
        (
            "parameters".to_owned(),
            Arc::new(UInt64Array::from_iter(identities.clone().map(|identity| identity.parameters))),
        ),
        ("test".to_owned(), text(|identity| &identity.model.test)),
    ]
}

fn counts<R>(rows: &[R], read: impl Fn(&R) -> u64) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(rows.iter().map(read)))
}

fn floats<R>(rows: &[R], read: impl Fn(&R) -> f64) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values(rows.iter().map(read)))
}

fn maybe_floats<R>(rows: &[R], read: impl Fn(&R) -> Option<f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter(rows.iter().map(read)))
}

/// A column of each metric.
fn metric_columns<R>(rows: &[R], read: impl Fn(&R) -> &[Option<f64>; METRICS]) -> Vec<Column> {
    let column = |(place, metric): (usize, &metrics::Metric)| {
        (metric.name.to_owned(), maybe_floats(rows, |row| read(row)[place]))
    };
    metrics::ALL.iter().enumerate().map(column).collect()
}

/// The two ends of a metric's interval.
fn ends<R>(metric: &str, rows: &[R], read: impl Fn(&R) -> Interval) -> [Column; 2] {
    let low = maybe_floats(rows, |row| read(row).map(|(low, _)| low));
    let high = maybe_floats(rows, |row| read(row).map(|(_, high)| high));
    [(format!("{metric}_low"), low), (format!("{metric}_high"), high)]
}

fn interval_columns<R>(rows: &[R], read: impl Fn(&R) -> &Intervals) -> Vec<Column> {
    let of_metric = |(place, metric): (usize, &metrics::Metric)| ends(metric.name, rows, |row| read(row)[place]);
    metrics::ALL.iter().enumerate().flat_map(of_metric).collect()
}

fn write(path: &Path, columns: Vec<Column>) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::system(format!("cannot write {}: {error}", path.display()));
    // What may be unknown in any run is nullable in every file: one schema for all.
    let is_optional = |name: &str| metrics::ALL.iter().any(|metric| metric.is_optional && metric.name == name);
    let is_end = |name: &str| name.ends_with("_low") || name.ends_with("_high");
    let nullable = |name: &str| NULLABLE.contains(&name) || is_optional(name) || is_end(name);
    let columns = columns.iter().map(|(name, array)| (name, array.clone(), nullable(name)));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).map_err(|error| failed(&error))?;
    // Without this the version of the Parquet library would stand in the file.
    let properties = WriterProperties::builder().set_created_by("cwm".to_owned()).build();
    let file = File::create(path).map_err(|error| Failure::io("create", path, error))?;
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).map_err(|error| failed(&error))?;
    writer.write(&batch).map_err(|error| failed(&error))?;
    writer.close().map_err(|error| failed(&error))?;
    Ok(())
}
