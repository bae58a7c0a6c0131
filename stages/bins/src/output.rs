//! The three Parquet files of a `bins` folder (docs/formats.md, "bins").

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use cwm_contract::Failure;
use datafusion::arrow::array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray, UInt64Array};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::WriterProperties;

use crate::bootstrap::{Interval, Intervals};
use crate::identity::Identity;
use crate::query::{Errors, PrefixBin};
use crate::run::Measured;

/// Columns whose value may be unknown, beside the ends of intervals.
const NULLABLE: [&str; 14] = [
    "seed",
    "parameters",
    "loss",
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
pub(crate) fn write_overall(path: &Path, rows: &[Measured]) -> Result<(), Failure> {
    let mut columns = identifying_columns(rows.iter().map(|row| &row.identity));
    columns.push(("games", counts(rows, |row| row.metrics.overall.games)));
    columns.push(("positions", counts(rows, |row| row.metrics.overall.positions)));
    columns.push(("loss", maybe_floats(rows, |row| row.metrics.overall.loss)));
    columns.push(("labelwise", floats(rows, |row| row.metrics.overall.labelwise)));
    columns.push(("exact", floats(rows, |row| row.metrics.overall.exact)));
    columns.push(("trajectory", floats(rows, |row| row.metrics.overall.trajectory)));
    columns.extend(interval_columns(rows, |row| &row.spread.overall));
    columns.extend(ends(["trajectory_low", "trajectory_high"], rows, |row| row.spread.trajectory));
    let trainings = || rows.iter().map(|row| &row.training);
    columns.push(("status", Arc::new(StringArray::from_iter(trainings().map(|training| training.status.as_deref())))));
    columns.push(("trained_games", Arc::new(UInt64Array::from_iter(trainings().map(|training| training.games)))));
    columns.push(("steps", Arc::new(UInt64Array::from_iter(trainings().map(|training| training.steps)))));
    columns.push(("epochs", Arc::new(Float64Array::from_iter(trainings().map(|training| training.epochs)))));
    columns.push(("lr", maybe_floats(rows, |row| row.training.lr)));
    columns.push(("warmup", Arc::new(UInt64Array::from_iter(trainings().map(|training| training.warmup)))));
    columns.push(("beta2", maybe_floats(rows, |row| row.training.beta2)));
    columns.push(("weight_decay", maybe_floats(rows, |row| row.training.weight_decay)));
    columns.push(("lr_floor", maybe_floats(rows, |row| row.training.lr_floor)));
    let checkpoints = trainings().map(|training| training.checkpoint.as_deref());
    columns.push(("checkpoint", Arc::new(StringArray::from_iter(checkpoints))));
    let validated = trainings().map(|training| training.validated_on_test);
    columns.push(("validated_on_test", Arc::new(BooleanArray::from_iter(validated))));
    write(path, columns)
}

/// Writes `prefix.parquet`: one row per label and bin, in the order given.
pub(crate) fn write_prefix(path: &Path, rows: &[Measured]) -> Result<(), Failure> {
    let mut bins: Vec<(&Identity, &PrefixBin, &Intervals)> = Vec::new();
    for row in rows {
        let of = row.metrics.prefix.iter().zip(&row.spread.bins);
        bins.extend(of.map(|(bin, intervals)| (&row.identity, bin, intervals)));
    }
    let mut columns = identifying_columns(bins.iter().map(|(identity, ..)| *identity));
    columns.push(("bin_start", counts(&bins, |(_, bin, _)| bin.start)));
    columns.push(("bin_end", counts(&bins, |(_, bin, _)| bin.end)));
    columns.push(("positions", counts(&bins, |(_, bin, _)| bin.positions)));
    columns.push(("loss", maybe_floats(&bins, |(_, bin, _)| bin.loss)));
    columns.push(("labelwise", floats(&bins, |(_, bin, _)| bin.labelwise)));
    columns.push(("exact", floats(&bins, |(_, bin, _)| bin.exact)));
    columns.extend(interval_columns(&bins, |(.., intervals)| *intervals));
    write(path, columns)
}

/// Writes `errors.parquet`: one row per label (of a cell) that tells which are right, and label (of a position).
pub(crate) fn write_errors(path: &Path, rows: &[Measured]) -> Result<(), Failure> {
    let mut counted: Vec<(&Identity, &Errors, usize)> = Vec::new();
    for row in rows {
        if let Some(errors) = &row.metrics.errors {
            counted.extend((0..errors.wrong.len()).map(|index| (&row.identity, errors, index)));
        }
    }
    let mut columns = identifying_columns(counted.iter().map(|(identity, ..)| *identity));
    columns.push(("index", counts(&counted, |(.., index)| *index as u64)));
    columns.push(("wrong", counts(&counted, |(_, errors, index)| errors.wrong[*index])));
    columns.push(("first", counts(&counted, |(_, errors, index)| errors.first[*index])));
    columns.push(("positions", counts(&counted, |(_, errors, _)| errors.positions)));
    columns.push(("games", counts(&counted, |(_, errors, _)| errors.games)));
    write(path, columns)
}

type Column = (&'static str, ArrayRef);

fn identifying_columns<'a>(identities: impl Iterator<Item = &'a Identity> + Clone) -> Vec<Column> {
    let text = |read: fn(&Identity) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(identities.clone().map(read)))
    };
    vec![
        ("label", text(|identity| &identity.label)),
        ("family", text(|identity| &identity.family)),
        ("size", text(|identity| &identity.size)),
        ("seed", Arc::new(Int64Array::from_iter(identities.clone().map(|identity| identity.seed)))),
        ("parameters", Arc::new(UInt64Array::from_iter(identities.clone().map(|identity| identity.parameters)))),
        ("test", text(|identity| &identity.test)),
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

/// The two ends of an interval.
fn ends<R>(names: [&'static str; 2], rows: &[R], read: impl Fn(&R) -> Interval) -> [Column; 2] {
    let low = maybe_floats(rows, |row| read(row).map(|(low, _)| low));
    let high = maybe_floats(rows, |row| read(row).map(|(_, high)| high));
    [(names[0], low), (names[1], high)]
}

fn interval_columns<R>(rows: &[R], read: impl Fn(&R) -> &Intervals) -> Vec<Column> {
    let mut columns = Vec::new();
    columns.extend(ends(["loss_low", "loss_high"], rows, |row| read(row).loss));
    columns.extend(ends(["labelwise_low", "labelwise_high"], rows, |row| read(row).labelwise));
    columns.extend(ends(["exact_low", "exact_high"], rows, |row| read(row).exact));
    columns
}

fn write(path: &Path, columns: Vec<Column>) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::system(format!("cannot write {}: {error}", path.display()));
    // What may be unknown in any run is nullable in every file: one schema for all.
    let nullable = |name: &str| NULLABLE.contains(&name) || name.ends_with("_low") || name.ends_with("_high");
    let columns = columns.into_iter().map(|(name, array)| (name, array, nullable(name)));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).map_err(|error| failed(&error))?;
    // Without this the version of the Parquet library would stand in the file.
    let properties = WriterProperties::builder().set_created_by("cwm".to_owned()).build();
    let file = File::create(path).map_err(|error| Failure::io("create", path, error))?;
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).map_err(|error| failed(&error))?;
    writer.write(&batch).map_err(|error| failed(&error))?;
    writer.close().map_err(|error| failed(&error))?;
    Ok(())
}
