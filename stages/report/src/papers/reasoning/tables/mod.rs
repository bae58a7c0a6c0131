//! The tables.

mod by_run;
mod gains;
mod mixtures;
mod predictors;
mod readings;
mod results;

pub(super) use by_run::{claims, gaming, grounded, quality, rewards};
pub(super) use gains::gains;
pub(super) use mixtures::mixtures;
pub(super) use predictors::predictors;
pub(super) use readings::readings;
pub(super) use results::{table_1, table_2};

use cwm_answers::Measure;
use cwm_page::{Interval, TableCell, number};

use super::measured::MeasuredRun;

/// The form in which a measure is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// A share, in percent.
    Percent,
    /// A number with three decimals.
    Score,
    /// A share, in points from 0 to 10.
    Points,
    /// Centipawns.
    Centipawns,
}

impl Unit {
    /// Returns the function that prints a number, and the factor to its unit.
    fn of(self) -> (fn(f64) -> String, f64) {
        match self {
            Unit::Percent => (number::percent, 100.0),
            Unit::Score => (three, 1.0),
            Unit::Points => (|value| number::two_decimals(value * 10.0), 10.0),
            Unit::Centipawns => (|value| number::decimals(value, 1), 1.0),
        }
    }

    /// A value of a measure as a cell.
    fn cell(self, measure: &Measure) -> TableCell {
        let (print, unit) = self.of();
        let interval = measure.low.zip(measure.high).map(|(low, high)| Interval::new(low, high, print, unit));
        TableCell::number(measure.value * unit, print(measure.value)).with_interval(interval)
    }
}

fn three(value: f64) -> String {
    number::decimals(value, 3)
}

/// A measure of a run as a cell with its source; [`TableCell::none`] if it has no value.
fn cell(player: Option<&MeasuredRun>, task: &str, measure: &str, unit: Unit) -> TableCell {
    let found = player.and_then(|player| Some((player, player.measure(task, measure)?)));
    found.map_or(TableCell::none(), |(player, found)| unit.cell(found).with_sources(player.source(task, measure)))
}

/// The number of answers that a measure's mean or share is over.
fn count(player: &MeasuredRun, task: &str, measure: &str) -> TableCell {
    let found = player.measure(task, measure);
    found.map_or(TableCell::none(), |found| TableCell::count(found.n).with_sources(player.source(task, measure)))
}
