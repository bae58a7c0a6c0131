//! A cell: its text, the number behind it, its deviation or interval, and the results that made it.

use crate::mean_std::MeanStd;
use crate::number;

/// A cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableCell {
    /// The printed text.
    pub text: String,
    /// The number behind it, for sorting and for machines.
    pub value: Option<f64>,
    /// Its standard deviation over runs, and how that is printed.
    pub deviation: Option<(f64, String)>,
    /// The interval around the number, where one is known.
    pub interval: Option<Interval>,
    /// True if it has no value.
    pub absent: bool,
    /// Labels of the cells of the pipeline whose results made it; empty for words, and for what a paper printed.
    pub sources: Vec<String>,
}

/// An interval around a cell's number, in its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// The printed text, such as `[0.12, 0.15]`; empty where it stands in the data files alone.
    pub text: String,
}

impl TableCell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        TableCell { text: text.into(), ..TableCell::default() }
    }

    /// A number and how it is printed.
    pub fn number(value: f64, text: impl Into<String>) -> Self {
        TableCell { text: text.into(), value: Some(value), ..TableCell::default() }
    }

    /// A count.
    pub fn count(number: u64) -> Self {
        TableCell::number(number as f64, number::count(number))
    }

    /// A fraction, shown in percent.
    pub fn percent(fraction: f64) -> Self {
        TableCell::number(fraction * 100.0, number::percent(fraction))
    }

    /// A number with its deviation over several runs or the interval of a single one, printed by `print`; the numbers of the
    /// cell are `unit` times as large.
    pub fn mean_std(over_runs: MeanStd, print: fn(f64) -> String, unit: f64) -> Self {
        TableCell {
            text: print(over_runs.mean),
            value: Some(over_runs.mean * unit),
            deviation: over_runs.deviation.map(|deviation| (deviation * unit, print(deviation))),
            ..TableCell::default()
        }
        .with_interval(over_runs.interval.map(|(low, high)| Interval::new(low, high, print, unit)))
    }

    /// Sets the interval, if there is one, and returns the cell.
    pub fn with_interval(self, interval: Option<Interval>) -> Self {
        TableCell { interval, ..self }
    }

    /// Returns this cell with its interval in the data files alone: where a reader looks along a row of many numbers.
    pub fn without_printed_interval(mut self) -> Self {
        if let Some(interval) = &mut self.interval {
            interval.text.clear();
        }
        self
    }

    /// Returns this cell, made of the results of these cells of the pipeline.
    pub fn with_sources<'a>(self, sources: impl IntoIterator<Item = &'a String>) -> Self {
        let mut sources: Vec<String> = sources.into_iter().cloned().collect();
        sources.sort();
        sources.dedup();
        TableCell { sources, ..self }
    }

    /// Its interval, where that is printed.
    pub(super) fn printed_interval(&self) -> Option<&str> {
        self.interval.as_ref().map(|interval| interval.text.as_str()).filter(|text| !text.is_empty())
    }

    /// A cell for what was not run.
    pub fn not_run() -> Self {
        TableCell { text: "not run".to_owned(), absent: true, ..TableCell::default() }
    }

    /// No such number exists.
    pub fn none() -> Self {
        TableCell { text: "–".to_owned(), absent: true, ..TableCell::default() }
    }

    /// Returns true if it is [`TableCell::none`].
    pub fn is_none(&self) -> bool {
        self.absent && self.text == "–"
    }
}

impl Interval {
    /// An interval from `low` to `high`, printed by `print`; its numbers are `unit` times as large.
    pub fn new(low: f64, high: f64, print: fn(f64) -> String, unit: f64) -> Self {
        Interval { low: low * unit, high: high * unit, text: format!("[{}, {}]", print(low), print(high)) }
    }
}
