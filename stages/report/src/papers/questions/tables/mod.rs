//! The tables.

mod agreement;
mod by_run;
mod cost;
mod items;
mod tasks;
mod variants;
mod verdicts;

pub(super) use agreement::agreement;
pub(super) use by_run::{categories, tokens};
pub(super) use cost::{cost, dollars_an_item};
pub(super) use items::items;
pub(super) use tasks::tasks;
pub(super) use variants::{context, reasoning};
pub(super) use verdicts::{VERDICTS, sound, verdicts};

use cwm_answers::Tally;
use cwm_page::{Interval, TableCell, number};

use super::measured::MeasuredRun;

/// The accuracy of a tally with its interval, in percent; [`TableCell::none`] without items.
fn accuracy(tally: &Tally) -> TableCell {
    if tally.items == 0 {
        return TableCell::none();
    }
    let interval = Interval::new(tally.low, tally.high, number::percent, 100.0);
    TableCell::percent(tally.accuracy).with_interval(Some(interval))
}

/// A difference of accuracies with its interval, in points.
fn points([difference, low, high]: [f64; 3]) -> TableCell {
    let text = number::signed(difference, number::percent);
    let interval = Interval::new(low, high, number::percent, 100.0);
    TableCell::number(difference * 100.0, text).with_interval(Some(interval))
}

/// The share of `part`, in percent; [`TableCell::none`] if `all` is 0.
fn share(part: u64, all: u64) -> TableCell {
    if all == 0 { TableCell::none() } else { TableCell::percent(part as f64 / all as f64) }
}

/// The mean of a sum over `number` answers; [`TableCell::none`] if there are none.
fn mean(sum: Option<u64>, number: u64) -> TableCell {
    let found = sum.and_then(|sum| number::mean(sum, number));
    found.map_or(TableCell::none(), |(value, text)| TableCell::number(value, text))
}

/// Returns the cells with the run's grades as the source of their numbers.
fn with_source(run: &MeasuredRun, cells: impl IntoIterator<Item = TableCell>) -> Vec<TableCell> {
    cells.into_iter().map(|cell| if cell.value.is_some() { cell.with_sources([&run.label]) } else { cell }).collect()
}
