//! The two Parquet files of a `bins` folder (docs/formats.md, "bins").

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use cwm_contract::Failure;
use datafusion::arrow::array::{ArrayRef, Float64Array, Int64Array, StringArray, UInt64Array};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::WriterProperties;

use crate::identity::Identity;
use crate::query::{Overall, PrefixBin};
use crate::training::Training;

/// Columns whose value a scores file may leave unknown.
const NULLABLE: [&str; 7] = ["seed", "parameters", "loss", "status", "trained_games", "steps", "epochs"];

/// Writes `overall.parquet`: one row per label, in the order given.
pub(crate) fn write_overall(path: &Path, rows: &[(&Identity, &Overall, &Training)]) -> Result<(), Failure> {
    let mut columns = identifying_columns(rows.iter().map(|(identity, ..)| *identity));
    columns.push(("games", counts(rows, |(_, overall, _)| overall.games)));
    columns.push(("positions", counts(rows, |(_, overall, _)| overall.positions)));
    columns.push(("loss", losses(rows, |(_, overall, _)| overall.loss)));
    columns.push(("labelwise", floats(rows, |(_, overall, _)| overall.labelwise)));
    columns.push(("exact", floats(rows, |(_, overall, _)| overall.exact)));
    columns.push(("trajectory", floats(rows, |(_, overall, _)| overall.trajectory)));
    let trainings = || rows.iter().map(|(.., training)| *training);
    columns.push(("status", Arc::new(StringArray::from_iter(trainings().map(|training| training.status.as_deref())))));
    columns.push(("trained_games", Arc::new(UInt64Array::from_iter(trainings().map(|training| training.games)))));
    columns.push(("steps", Arc::new(UInt64Array::from_iter(trainings().map(|training| training.steps)))));
    columns.push(("epochs", Arc::new(Float64Array::from_iter(trainings().map(|training| training.epochs)))));
    write(path, columns)
}

/// Writes `prefix.parquet`: one row per label and bin, in the order given.
pub(crate) fn write_prefix(path: &Path, rows: &[(&Identity, &PrefixBin)]) -> Result<(), Failure> {
    let mut columns = identifying_columns(rows.iter().map(|(identity, _)| *identity));
    columns.push(("bin_start", counts(rows, |(_, bin)| bin.start)));
    columns.push(("bin_end", counts(rows, |(_, bin)| bin.end)));
    columns.push(("positions", counts(rows, |(_, bin)| bin.positions)));
    columns.push(("loss", losses(rows, |(_, bin)| bin.loss)));
    columns.push(("labelwise", floats(rows, |(_, bin)| bin.labelwise)));
    columns.push(("exact", floats(rows, |(_, bin)| bin.exact)));
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

fn losses<R>(rows: &[R], read: impl Fn(&R) -> Option<f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter(rows.iter().map(read)))
}

fn write(path: &Path, columns: Vec<Column>) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::system(format!("cannot write {}: {error}", path.display()));
    // What may be unknown in any run is nullable in every file: one schema for all.
    let columns = columns.into_iter().map(|(name, array)| (name, array, NULLABLE.contains(&name)));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).map_err(|error| failed(&error))?;
    // Without this the version of the Parquet library would stand in the file.
    let properties = WriterProperties::builder().set_created_by("cwm".to_owned()).build();
    let file = File::create(path).map_err(|error| Failure::io("create", path, error))?;
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).map_err(|error| failed(&error))?;
    writer.write(&batch).map_err(|error| failed(&error))?;
    writer.close().map_err(|error| failed(&error))?;
    Ok(())
}
