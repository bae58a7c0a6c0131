//! Runs the SQL over one scores file.

use std::path::Path;

use cwm_contract::{Failure, Label};
use cwm_functions::file_url;
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::{ArrowPrimitiveType, Float64Type, Int64Type, UInt32Type, UInt64Type};
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

/// What the queries say of one scores file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Metrics {
    pub(crate) overall: Overall,
    pub(crate) prefix: Vec<PrefixBin>,
    /// Of the same bins.
    pub(crate) sums: Vec<BinSums>,
    /// `None` where the scores do not tell which labels are right.
    pub(crate) errors: Option<Errors>,
}

/// Metrics over all positions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Overall {
    pub(crate) games: u64,
    pub(crate) positions: u64,
    /// `None` where the scores tell none.
    pub(crate) loss: Option<f64>,
    /// Accuracies are fractions, 0 to 1.
    pub(crate) labelwise: f64,
    pub(crate) exact: f64,
    pub(crate) trajectory: f64,
}

/// Metrics over the positions with t in start..end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PrefixBin {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) positions: u64,
    pub(crate) loss: Option<f64>,
    pub(crate) labelwise: f64,
    pub(crate) exact: f64,
}

/// How often each label is wrong.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Errors {
    pub(crate) positions: u64,
    /// Games with any wrong position.
    pub(crate) games: u64,
    /// For each label: positions that have it wrong.
    pub(crate) wrong: Vec<u64>,
    /// For each label: games whose first wrong position has it wrong.
    pub(crate) first: Vec<u64>,
}

/// What is asked of a scores file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    pub(crate) bin_width: u32,
    /// Whether the file tells which labels are right.
    pub(crate) has_labels: bool,
    /// Threads' worth of partitions.
    pub(crate) partitions: usize,
}

/// All queries over the scores of `label` at `path`.
///
/// # Errors
/// The file cannot be read to its end, or holds rows with missing values.
pub(crate) fn measure(label: &Label, path: &Path, question: Question) -> Result<Metrics, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(|error| Failure::system(format!("cannot start the query engine: {error}")))?;
    let (metrics, Lacking { incomplete, without_loss }) = runtime.block_on(run(path, question)).map_err(|error| {
        // The engine's error would drag along its backtrace hint; its first line says what was wrong.
        let said = error.strip_backtrace();
        Failure::input(format!("cannot read the scores of {label} ({}): {said}", path.display()))
            .hint("the file may be damaged: run the stage that made it again")
    })?;
    let positions = metrics.overall.positions;
    if incomplete > 0 {
        return Err(Failure::input(format!(
            "{incomplete} of the {positions} positions in the scores of {label} lack a value"
        )));
    }
    if without_loss > 0 && without_loss < positions {
        return Err(Failure::input(format!(
            "{without_loss} of the {positions} positions in the scores of {label} lack a loss, and the others have one"
        )));
    }
    Ok(metrics)
}

/// How many positions lack something.
struct Lacking {
    /// Any value but the loss.
    incomplete: u64,
    without_loss: u64,
}

async fn run(path: &Path, question: Question) -> Result<(Metrics, Lacking)> {
    let session = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(question.partitions));
    cwm_functions::register(&session);
    // The store names files by digest, so there is no extension to go by.
    let any_name = ParquetReadOptions::default().file_extension("");
    session.register_parquet("scores", file_url(path), any_name).await?;

    let batches = session.sql(OVERALL).await?.collect().await?;
    let mut overall = rows(&batches, |batch, row| {
        let whole = Overall {
            games: count(batch, "games", row),
            positions: count(batch, "positions", row),
            loss: loss(batch, row),
            labelwise: float(batch, "labelwise", row),
            exact: float(batch, "exact", row),
            trajectory: float(batch, "trajectory", row),
        };
        let without_loss = count(batch, "without_loss", row);
        (whole, Lacking { incomplete: count(batch, "incomplete", row), without_loss })
    });
    let (overall, lacking) = overall.swap_remove(0);

    let width = ScalarValue::Int64(Some(question.bin_width.into()));
    let query = session.sql(PREFIX).await?.with_param_values(vec![("width", width.clone())])?;
    let prefix = rows(&query.collect().await?, |batch, row| PrefixBin {
        start: count(batch, "bin_start", row),
        end: count(batch, "bin_end", row),
        positions: count(batch, "positions", row),
        loss: loss(batch, row),
        labelwise: float(batch, "labelwise", row),
        exact: float(batch, "exact", row),
    });
    let query = session.sql(SUMS).await?.with_param_values(vec![("width", width)])?;
    let sums = sums(&query.collect().await?);
    let errors = match question.has_labels {
        true => rows(&session.sql(ERRORS).await?.collect().await?, errors).pop(),
        false => None,
    };
    Ok((Metrics { overall, prefix, sums, errors }, lacking))
}

/// The rows of `sums.sql`, bin by bin.
fn sums(batches: &[RecordBatch]) -> Vec<BinSums> {
    let mut bins: Vec<BinSums> = Vec::new();
    let mut last = None;
    for batch in batches {
        let counts = |column: &str| batch[column].as_primitive::<Int64Type>().values();
        let (starts, positions, correct, exact) =
            (counts("bin_start"), counts("positions"), counts("correct"), counts("exact"));
        let games = batch["game"].as_primitive::<UInt32Type>().values();
        let losses = batch["loss"].as_primitive::<Float64Type>();
        for row in 0..batch.num_rows() {
            if last.replace(starts[row]) != Some(starts[row]) {
                bins.push(Vec::new());
            }
            let game = GameSums {
                game: games[row],
                positions: positions[row] as f64,
                loss: losses.is_valid(row).then(|| losses.value(row)),
                correct: correct[row] as f64,
                exact: exact[row] as f64,
            };
            bins.last_mut().into_iter().for_each(|bin| bin.push(game));
        }
    }
    bins
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

fn float(batch: &RecordBatch, column: &str, row: usize) -> f64 {
    value::<Float64Type>(batch, column, row)
}

/// The mean loss; without any loss to average there is none.
fn loss(batch: &RecordBatch, row: usize) -> Option<f64> {
    batch["loss"].is_valid(row).then(|| float(batch, "loss", row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{ALL_RIGHT, Position, scores, write_scores};

    fn ask(path: &Path, bin_width: u32, partitions: usize) -> Result<Metrics, Failure> {
        measure(&Label::stage("e"), path, Question { bin_width, has_labels: true, partitions })
    }

    #[test]
    fn odd_names_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("a b[1]*%20é");
        std::fs::create_dir(&odd).unwrap();
        let path = odd.join("0c1f");
        write_scores(&path, None, &scores(1, 2));
        assert_eq!(ask(&path, 20, 1).unwrap().overall.games, 2);
    }

    /// The engine splits the rows among partitions and merges their states: nothing may change, to the bit.
    #[test]
    fn partitions_do_not_matter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores");
        write_scores(&path, None, &scores(9, 3_000));
        let bits = |partitions| {
            let metrics = ask(&path, 7, partitions).unwrap();
            let sums: Vec<_> = metrics.sums.iter().flatten().map(|game| game.loss.map(f64::to_bits)).collect();
            (
                metrics.overall.loss.map(f64::to_bits),
                metrics.prefix.iter().map(|bin| bin.loss.map(f64::to_bits)).collect::<Vec<_>>(),
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
        let failure = ask(&path, 20, 1).unwrap_err();
        let message = "1 of the 2 positions in the scores of e lack a loss, and the others have one";
        assert_eq!(failure.message, message);
        write_scores(&path, None, &[missing.clone(), Position { t: 1, right: 0, ..missing }]);
        let Metrics { overall, prefix, sums, .. } = ask(&path, 20, 1).unwrap();
        assert_eq!((overall.loss, overall.exact, prefix[0].loss, sums[0][0].loss), (None, 0.5, None, None));
    }
}
