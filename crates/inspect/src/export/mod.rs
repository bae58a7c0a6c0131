//! Datasets in the forms that other programs read: with the labels of every position, or as one stream.
//!
//! Labels are replayed on all cores; what is written depends neither on their number nor on time.

mod columns;
mod sink;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::path::Path;

use arrow_array::RecordBatch;
use cwm_chess::Dataset;
use cwm_contract::{ExportFormat, ExportOptions, ExportTarget, Failure, Format};

use crate::ordered::in_order;
use columns::{Columns, Labels};
use sink::{FILE_GAMES, Sink};

/// A dataset with labels.
const LABELLED: ExportFormat = ExportFormat { name: "labelled", version: 1 };

/// A dataset as it is, as one stream.
const DATASET: ExportFormat = ExportFormat { name: "dataset", version: 2 };

/// Positions of one record batch, from which on it gets no further game: with labels, 5 MB.
const BATCH_POSITIONS: usize = 1 << 16;

/// Rows of a record batch, at most.
const BATCH_ROWS: usize = 1 << 14;

/// See [`Inspector::export_format`](cwm_contract::Inspector::export_format).
pub fn export_format(format: &Format, options: &ExportOptions) -> Result<ExportFormat, Failure> {
    match (format == &Format::DATASET, options.labels) {
        (true, true) => Ok(LABELLED),
        (true, false) => Ok(DATASET),
        (false, labels) => {
            let how = if labels { "with labels" } else { "as a stream, or in part" };
            Err(Failure::input(format!("what has format `{format}` cannot be exported {how}; only a `dataset` can"))
                .hint("name a dataset, such as `tokens.train`; anything else is exported as it is: `cwm export STAGE DIR`"))
        }
    }
}

/// See [`Inspector::export_as`](cwm_contract::Inspector::export_as).
pub fn export_as(
    format: &Format,
    path: &Path,
    options: &ExportOptions,
    target: ExportTarget<'_>,
) -> Result<(), Failure> {
    let form = export_format(format, options)?;
    let dataset = Dataset::open(path)?;
    let games =
        options.limit.map_or(dataset.len(), |limit| dataset.len().min(usize::try_from(limit).unwrap_or(usize::MAX)));
    let labels = match options.labels {
        true => Labels::All,
        false if dataset.labelled() => Labels::Stored,
        false => Labels::None,
    };
    let schema = columns::schema(form.name, form.version, labels);
    let mut sink = Sink::new(target, form.name, schema.clone())?;
    in_order(
        options.cores,
        Batches { dataset: &dataset, next: 0, games },
        |rows| gather(&dataset, path, rows, Columns::new(schema.clone(), labels, BATCH_POSITIONS)),
        |batch| sink.write(&batch),
    )?;
    sink.finish()
}

/// The rows of one record batch after another; none crosses the end of a file.
struct Batches<'a> {
    dataset: &'a Dataset,
    next: usize,
    games: usize,
}

impl Iterator for Batches<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.next;
        let mut positions = 0;
        while self.next < self.games && positions < BATCH_POSITIONS && self.next - start < BATCH_ROWS {
            positions += match self.dataset.tokens(self.next) {
                Ok(tokens) => tokens?.len(),
                // Reported when the game is gathered.
                Err(_) => 0,
            };
            self.next += 1;
            if self.next.is_multiple_of(FILE_GAMES) {
                break;
            }
        }
        (start < self.next).then_some(start..self.next)
    }
}

fn gather(dataset: &Dataset, path: &Path, rows: Range<usize>, mut columns: Columns) -> Result<RecordBatch, Failure> {
    for row in rows {
        let Some(game) = dataset.get(row)? else { break };
        let game = game.row();
        columns.push(&game).map_err(|error| {
            Failure::input(format!("game {row} ({}) of {}: {error}", game.id, path.display()))
                .hint("make the dataset again: `cwm run --force STAGE`")
        })?;
    }
    columns.into_batch().map_err(|error| Failure::internal(format!("a record batch cannot be built: {error}")))
}
