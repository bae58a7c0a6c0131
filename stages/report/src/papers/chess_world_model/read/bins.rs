//! The `bins` folder, read and checked with Polars.

use std::fs::File;
use std::path::Path;

use cwm_contract::Failure;
use polars_core::prelude::{Column, DataFrame, DataType, PolarsError};
use polars_io::prelude::{ParquetReader, SerReader};

/// The columns that name a row.
const NAMING: [(&str, DataType); 6] = [
    ("label", DataType::String),
    ("family", DataType::String),
    ("size", DataType::String),
    ("seed", DataType::Int64),
    ("parameters", DataType::UInt64),
    ("test", DataType::String),
];
const OVERALL: [(&str, DataType); 9] = [
    ("games", DataType::UInt64),
    ("positions", DataType::UInt64),
    ("loss", DataType::Float64),
    ("labelwise", DataType::Float64),
    ("exact", DataType::Float64),
    ("trajectory", DataType::Float64),
    ("status", DataType::String),
    ("trained_games", DataType::UInt64),
    ("epochs", DataType::Float64),
];
const PREFIX: [(&str, DataType); 6] = [
    ("bin_start", DataType::UInt64),
    ("bin_end", DataType::UInt64),
    ("positions", DataType::UInt64),
    ("loss", DataType::Float64),
    ("labelwise", DataType::Float64),
    ("exact", DataType::Float64),
];

/// Columns whose value may be unknown (null).
const NULLABLE: [&str; 6] = ["seed", "parameters", "loss", "status", "trained_games", "epochs"];

/// Columns that bins of earlier versions lack; without them, and where they are null, less is told. First numbers.
const MORE_OVERALL: [&str; 13] = [
    "loss_low",
    "loss_high",
    "labelwise_low",
    "labelwise_high",
    "exact_low",
    "exact_high",
    "trajectory_low",
    "trajectory_high",
    "lr",
    "warmup",
    "beta2",
    "weight_decay",
    "lr_floor",
];
/// Of other types.
const OTHER_OVERALL: [(&str, DataType); 2] =
    [("checkpoint", DataType::String), ("validated_on_test", DataType::Boolean)];
const MORE_PREFIX: [&str; 4] = ["labelwise_low", "labelwise_high", "exact_low", "exact_high"];

/// The two tables of a `bins` folder, with the columns of docs/formats.md that a report shows.
pub(crate) struct Bins {
    /// One row per label.
    pub(crate) overall: DataFrame,
    /// One row per label and prefix bin.
    pub(crate) prefix: DataFrame,
}

/// Reads the folder.
///
/// # Errors
/// A file is missing, is not Parquet, has no rows, or lacks a column or a value.
pub(crate) fn read(folder: &Path) -> Result<Bins, Failure> {
    Ok(Bins {
        overall: table(&folder.join("overall.parquet"), &OVERALL, &MORE_OVERALL, &OTHER_OVERALL)?,
        prefix: table(&folder.join("prefix.parquet"), &PREFIX, &MORE_PREFIX, &[])?,
    })
}

fn table(
    path: &Path,
    metrics: &[(&str, DataType)],
    more: &[&str],
    others: &[(&str, DataType)],
) -> Result<DataFrame, Failure> {
    let place = path.display();
    let file = File::open(path).map_err(|error| Failure::io("open", path, error))?;
    let frame = ParquetReader::new(file)
        .finish()
        .map_err(|error| Failure::input(format!("{place} is no readable Parquet file: {error}")))?;
    if frame.height() == 0 {
        return Err(Failure::input(format!("{place} has no rows: nothing was scored"))
            .hint("a report needs the bins of at least one evaluation"));
    }
    let wanted: Vec<_> = NAMING.iter().chain(metrics).collect();
    for (name, kind) in &wanted {
        let column = frame.column(name).map_err(|_| Failure::input(format!("{place} has no column `{name}`")))?;
        if column.dtype() != kind {
            let found = column.dtype();
            return Err(Failure::input(format!("the column `{name}` of {place} must be {kind}, not {found}")));
        }
        if column.null_count() > 0 && !NULLABLE.contains(name) {
            return Err(Failure::input(format!("the column `{name}` of {place} lacks values")));
        }
    }
    let failed = |error: PolarsError| Failure::internal(format!("{place}: {error}"));
    let optional = |name: &str, wanted: &DataType, is_as_wanted: &dyn Fn(&DataType) -> bool, words: &str| match frame
        .column(name)
    {
        Err(_) => Ok(Column::full_null(name.into(), frame.height(), wanted)),
        Ok(column) if is_as_wanted(column.dtype()) => column.cast(wanted).map_err(failed),
        Ok(column) => {
            let found = column.dtype();
            Err(Failure::input(format!("the column `{name}` of {place} must be {words}, not {found}")))
        }
    };
    let more = more.iter().map(|name| optional(name, &DataType::Float64, &DataType::is_primitive_numeric, "numbers"));
    let others =
        others.iter().map(|(name, wanted)| optional(name, wanted, &|kind| kind == wanted, &wanted.to_string()));
    let wanted = wanted.iter().map(|(name, _)| frame.column(name).cloned().map_err(failed));
    let columns = wanted.chain(more).chain(others).collect::<Result<Vec<_>, _>>()?;
    DataFrame::new(frame.height(), columns).map_err(failed)
}
