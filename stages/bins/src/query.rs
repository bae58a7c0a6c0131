//! Runs the SQL over one scores file.

use std::path::Path;

use cwm_contract::{Failure, Label};
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::{ArrowPrimitiveType, Float64Type, Int64Type};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::Result;
use datafusion::execution::options::ParquetReadOptions;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::scalar::ScalarValue;

use crate::exact_sum_function::exact_sum;

const OVERALL: &str = include_str!("../sql/overall.sql");
const PREFIX: &str = include_str!("../sql/prefix.sql");

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

/// Both queries over the scores of `label` at `path`, on `partitions` threads' worth of partitions.
///
/// # Errors
/// The file cannot be read to its end, or holds rows with missing values.
pub(crate) fn measure(
    label: &Label,
    path: &Path,
    bin_width: u32,
    partitions: usize,
) -> Result<(Overall, Vec<PrefixBin>), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(|error| Failure::system(format!("cannot start the query engine: {error}")))?;
    let (overall, Lacking { incomplete, without_loss }, prefix) =
        runtime.block_on(run(path, bin_width, partitions)).map_err(|error| {
            // The engine's error would drag along its backtrace hint; its first line says what was wrong.
            let said = error.strip_backtrace();
            Failure::input(format!("cannot read the scores of {label} ({}): {said}", path.display()))
                .hint("the file may be damaged: run the stage that made it again")
        })?;
    if incomplete > 0 {
        let positions = overall.positions;
        return Err(Failure::input(format!(
            "{incomplete} of the {positions} positions in the scores of {label} lack a value"
        )));
    }
    if without_loss > 0 && without_loss < overall.positions {
        let positions = overall.positions;
        return Err(Failure::input(format!(
            "{without_loss} of the {positions} positions in the scores of {label} lack a loss, and the others have one"
        )));
    }
    Ok((overall, prefix))
}

/// How many positions lack something.
struct Lacking {
    /// Any value but the loss.
    incomplete: u64,
    without_loss: u64,
}

async fn run(path: &Path, bin_width: u32, partitions: usize) -> Result<(Overall, Lacking, Vec<PrefixBin>)> {
    let session = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(partitions));
    session.register_udaf(exact_sum());
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

    let width = ScalarValue::Int64(Some(bin_width.into()));
    let query = session.sql(PREFIX).await?.with_param_values(vec![("width", width)])?;
    let prefix = rows(&query.collect().await?, |batch, row| PrefixBin {
        start: count(batch, "bin_start", row),
        end: count(batch, "bin_end", row),
        positions: count(batch, "positions", row),
        loss: loss(batch, row),
        labelwise: float(batch, "labelwise", row),
        exact: float(batch, "exact", row),
    });
    Ok((overall, lacking, prefix))
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

/// `path` as a URL. The engine takes a plain path with `[`, `?` or `*` in it for a pattern.
fn file_url(path: &Path) -> String {
    let mut url = String::from("file://");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => url.push(char::from(*byte)),
            other => url.push_str(&format!("%{other:02X}")),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{Position, scores, write_scores};

    #[test]
    fn a_path_becomes_a_url() {
        assert_eq!(file_url(Path::new("/a b/c[1]%20?.é")), "file:///a%20b/c%5B1%5D%2520%3F.%C3%A9");
    }

    #[test]
    fn odd_names_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("a b[1]*%20é");
        std::fs::create_dir(&odd).unwrap();
        let path = odd.join("0c1f");
        write_scores(&path, None, &scores(1, 2));
        assert_eq!(measure(&Label::stage("e"), &path, 20, 1).unwrap().0.games, 2);
    }

    /// The engine splits the rows among partitions and merges their states: nothing may change, to the bit.
    #[test]
    fn partitions_do_not_matter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores");
        write_scores(&path, None, &scores(9, 3_000));
        let bits = |partitions| {
            let (overall, prefix) = measure(&Label::stage("e"), &path, 7, partitions).unwrap();
            (
                overall.loss.map(f64::to_bits),
                prefix.iter().map(|bin| bin.loss.map(f64::to_bits)).collect::<Vec<_>>(),
                overall.games,
            )
        };
        assert_eq!(bits(1), bits(4));
    }

    #[test]
    fn losses_are_there_in_all_rows_or_in_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores");
        let missing = Position { game: 0, t: 0, correct: 75, exact: true, loss: None };
        write_scores(&path, None, &[missing.clone(), Position { t: 1, loss: Some(0.5), ..missing.clone() }]);
        let failure = measure(&Label::stage("e"), &path, 20, 1).unwrap_err();
        let message = "1 of the 2 positions in the scores of e lack a loss, and the others have one";
        assert_eq!(failure.message, message);
        write_scores(&path, None, &[missing.clone(), Position { t: 1, exact: false, ..missing }]);
        let (overall, prefix) = measure(&Label::stage("e"), &path, 20, 1).unwrap();
        assert_eq!((overall.loss, overall.exact, prefix[0].loss), (None, 0.5, None));
    }
}
