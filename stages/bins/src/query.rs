//! Runs the SQL over one scores file.

use std::path::Path;

use cwm_contract::{Failure, Label};
use cwm_functions::file_url;
use cwm_scores::metrics::{self, GAME_METRICS, METRICS, Metric};
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{ArrowPrimitiveType, DataType, Float64Type, Int64Type, UInt32Type, UInt64Type};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::Result;
use datafusion::execution::options::ParquetReadOptions;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::scalar::ScalarValue;

use crate::bootstrap::{BinSums, GameSums};

const OVERALL: &str = include_str!("../sql/overall.sql");
const PREFIX: &str = include_str!("../sql/prefix.sql");
const SUMS: &str = include_str!("../sql/sums.sql");
const ERRORS: &str = include_str!("../sql/errors.sql");

/// The results of the queries over one scores file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Metrics {
    pub(crate) overall: Overall,
    pub(crate) prefix: Vec<PrefixBin>,
    /// The sums of the same bins.
    pub(crate) sums: Vec<BinSums>,
    /// `None` where the scores do not have which labels are right.
    pub(crate) errors: Option<Errors>,
}

/// Metrics over all positions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Overall {
    pub(crate) games: u64,
    pub(crate) positions: u64,
    /// In the order of [`metrics::ALL`]; `None` where the scores have none. Accuracies are fractions, 0 to 1.
    pub(crate) values: [Option<f64>; METRICS],
    /// In the order of [`metrics::OF_GAMES`].
    pub(crate) of_games: [f64; GAME_METRICS],
}

/// Metrics over the positions with t in start..end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PrefixBin {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) positions: u64,
    /// In the order of [`metrics::ALL`].
    pub(crate) values: [Option<f64>; METRICS],
}

/// The number of errors of each label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Errors {
    pub(crate) positions: u64,
    /// Games with any wrong position.
    pub(crate) games: u64,
    /// Positions that have each label wrong.
    pub(crate) wrong: Vec<u64>,
    /// Games whose first wrong position has each label wrong.
    pub(crate) first: Vec<u64>,
}

/// The properties of a file on which the queries depend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queries {
    pub(crate) bin_width: u32,
    /// True if the file has the labels that are right.
    pub(crate) has_labels: bool,
    /// Threads' worth of partitions.
    pub(crate) partitions: usize,
}

/// All queries over the scores of `label` at `path`.
///
/// # Errors
/// The file cannot be read to its end, or holds rows with missing values.
pub(crate) fn measure(label: &Label, path: &Path, queries: Queries) -> Result<Metrics, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(|error| Failure::system(format!("cannot start the query engine: {error}")))?;
    let (metrics, MissingValues { incomplete, without }) = runtime.block_on(run(path, queries)).map_err(|error| {
        // Without the engine's hint about backtraces.
        let message = error.strip_backtrace();
        Failure::input(format!("cannot read the scores of {label} ({}): {message}", path.display()))
            .hint("the file may be damaged: run the stage that made it again")
    })?;
    let positions = metrics.overall.positions;
    if incomplete > 0 {
        return Err(Failure::input(format!(
            "{incomplete} of the {positions} positions in the scores of {label} lack a value"
        )));
    }
    let partly = metrics::ALL.iter().zip(without).find(|(_, without)| (1..positions).contains(without));
    if let Some((metric, without)) = partly {
        let name = metric.name;
        return Err(Failure::input(format!(
            "{without} of the {positions} positions in the scores of {label} lack a {name}, and the others have one"
        )));
    }
    Ok(metrics)
}

/// The number of positions without a value.
struct MissingValues {
    /// Any value that all must have.
    incomplete: u64,
    /// Each metric, in the order of [`metrics::ALL`].
    without: [u64; METRICS],
}

async fn run(path: &Path, queries: Queries) -> Result<(Metrics, MissingValues)> {
    let session = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(queries.partitions));
    cwm_functions::register(&session);
    // The store names files by digest, so there is no extension to go by.
    let any_name = ParquetReadOptions::default().file_extension("");
    session.register_parquet("scores", file_url(path), any_name).await?;

    let batches = session.sql(OVERALL).await?.collect().await?;
    let mut overall = rows(&batches, |batch, row| {
        let whole = Overall {
            games: count(batch, "games", row),
            positions: count(batch, "positions", row),
            values: values(batch, row),
            of_games: metrics::OF_GAMES.map(|metric| value::<Float64Type>(batch, metric.name, row)),
        };
        let without = metrics::ALL.map(|metric| match metric.is_optional {
            true => count(batch, &format!("without_{}", metric.name), row),
            false => 0,
        });
        (whole, MissingValues { incomplete: count(batch, "incomplete", row), without })
    });
    let (overall, missing) = overall.swap_remove(0);

    let width = ScalarValue::Int64(Some(queries.bin_width.into()));
    let query = session.sql(PREFIX).await?.with_param_values(vec![("width", width.clone())])?;
    let prefix = rows(&query.collect().await?, |batch, row| PrefixBin {
        start: count(batch, "bin_start", row),
        end: count(batch, "bin_end", row),
        positions: count(batch, "positions", row),
        values: values(batch, row),
    });
    let query = session.sql(SUMS).await?.with_param_values(vec![("width", width)])?;
    let sums = sums(&query.collect().await?);
    let errors = match queries.has_labels {
        true => rows(&session.sql(ERRORS).await?.collect().await?, errors).pop(),
        false => None,
    };
    Ok((Metrics { overall, prefix, sums, errors }, missing))
}

/// The rows of `sums.sql`, bin by bin.
fn sums(batches: &[RecordBatch]) -> Vec<BinSums> {
    let mut bins: Vec<BinSums> = Vec::new();
    let mut last = None;
    for batch in batches {
        let counts = |column: &str| batch[column].as_primitive::<Int64Type>().values();
        let (starts, positions) = (counts("bin_start"), counts("positions"));
        let games = batch["game"].as_primitive::<UInt32Type>().values();
        let columns = metrics::ALL.map(|metric| floats(&batch[metric.name]));
        for row in 0..batch.num_rows() {
            if last.replace(starts[row]) != Some(starts[row]) {
                bins.push(Vec::new());
            }
            let sums = columns.each_ref().map(|column| column[row]);
            let game = GameSums { game: games[row], positions: positions[row] as f64, sums };
            bins.last_mut().into_iter().for_each(|bin| bin.push(game));
        }
    }
    bins
}

/// The sums in a column: counts, or floats that may be NULL.
fn floats(column: &ArrayRef) -> Vec<Option<f64>> {
    match column.data_type() {
        DataType::Int64 => {
            column.as_primitive::<Int64Type>().iter().map(|count| count.map(|count| count as f64)).collect()
        }
        _ => column.as_primitive::<Float64Type>().iter().collect(),
    }
}

/// The one row of `errors.sql`.
fn errors(batch: &RecordBatch, row: usize) -> Errors {
    let list = |column: &str| {
        let counts = batch[column].as_list::<i32>().value(row);
        counts.as_primitive::<UInt64Type>().values().to_vec()
    };
    Errors {
        positions: count(batch, "positions", row),
        games: count(batch, "games", row),
        wrong: list("wrong"),
        first: list("first"),
    }
}

fn rows<T>(batches: &[RecordBatch], read: impl Fn(&RecordBatch, usize) -> T) -> Vec<T> {
    batches.iter().flat_map(|batch| (0..batch.num_rows()).map(|row| read(batch, row))).collect()
}

/// A value of a column that our own SQL makes, so that name and type are known; 0 for NULL.
fn value<T: ArrowPrimitiveType>(batch: &RecordBatch, column: &str, row: usize) -> T::Native {
    batch[column].as_primitive::<T>().value(row)
}

/// A count of the SQL's; SQL counts are signed, and never negative.
fn count(batch: &RecordBatch, column: &str, row: usize) -> u64 {
    value::<Int64Type>(batch, column, row).unsigned_abs()
}

/// The mean of each metric; without anything to average there is none.
fn values(batch: &RecordBatch, row: usize) -> [Option<f64>; METRICS] {
    metrics::ALL.map(|Metric { name, .. }| batch[name].is_valid(row).then(|| value::<Float64Type>(batch, name, row)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{ALL_RIGHT, Position, scores, write_scores};

    fn measure_file(path: &Path, bin_width: u32, partitions: usize) -> Result<Metrics, Failure> {
        measure(&Label::stage("e"), path, Queries { bin_width, has_labels: true, partitions })
    }

    #[test]
    fn odd_names_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("a b[1]*%20é");
        std::fs::create_dir(&odd).unwrap();
        let path = odd.join("0c1f");
        write_scores(&path, None, &scores(1, 2));
        assert_eq!(measure_file(&path, 20, 1).unwrap().overall.games, 2);
    }

    /// The engine splits the rows among partitions and merges their states: nothing may change, to the bit.
    #[test]
    fn partitions_do_not_matter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores");
        write_scores(&path, None, &scores(9, 3_000));
        let bits = |partitions| {
            let metrics = measure_file(&path, 7, partitions).unwrap();
            let bits = |values: [Option<f64>; METRICS]| values.map(|value| value.map(f64::to_bits));
            let sums: Vec<_> = metrics.sums.iter().flatten().map(|game| bits(game.sums)).collect();
            (
                bits(metrics.overall.values),
                metrics.prefix.iter().map(|bin| bits(bin.values)).collect::<Vec<_>>(),
                sums,
                metrics.errors,
                metrics.overall.games,
            )
        };
        assert_eq!(bits(1), bits(4));
    }

    #[test]
    fn losses_are_there_in_all_rows_or_in_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores");
        let missing = Position { game: 0, t: 0, right: ALL_RIGHT, loss: None };
        write_scores(&path, None, &[missing.clone(), Position { t: 1, loss: Some(0.5), ..missing.clone() }]);
        let failure = measure_file(&path, 20, 1).unwrap_err();
        let message = "1 of the 2 positions in the scores of e lack a loss, and the others have one";
        assert_eq!(failure.message, message);
        write_scores(&path, None, &[missing.clone(), Position { t: 1, right: 0, ..missing }]);
        let Metrics { overall, prefix, sums, .. } = measure_file(&path, 20, 1).unwrap();
        let [loss, _, exact] = overall.values;
        assert_eq!((loss, exact, prefix[0].values[0], sums[0][0].sums[0]), (None, Some(0.5), None, None));
    }
}
