//! A cell: what is printed, the number behind it, how sure it is, and which results made it.

use crate::number;
use crate::spread::Spread;

/// A cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cell {
    /// As printed.
    pub(crate) text: String,
    /// The number behind it, for sorting and for machines.
    pub(crate) value: Option<f64>,
    /// Its standard deviation over runs, and how that is printed.
    pub(crate) deviation: Option<(f64, String)>,
    /// The interval that holds 95 % of what other games of the same kind would give.
    pub(crate) interval: Option<Interval>,
    /// Whether it only says that there is nothing.
    pub(crate) absent: bool,
    /// Labels of the cells of the pipeline whose results made it; empty for words, and for what the paper printed.
    pub(crate) sources: Vec<String>,
}

/// An interval around a cell's number, in its unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// As printed, such as `[0.12, 0.15]`; nothing where it stands in the data files alone.
    pub(crate) text: String,
}

impl Cell {
    /// Words.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Cell { text: text.into(), ..Cell::default() }
    }

    /// A number and how it is printed.
    pub(crate) fn number(value: f64, text: impl Into<String>) -> Self {
        Cell { text: text.into(), value: Some(value), ..Cell::default() }
    }

    /// A count.
    pub(crate) fn count(number: u64) -> Self {
        Cell::number(number as f64, number::count(number))
    }

    /// A fraction, shown in percent.
    pub(crate) fn percent(fraction: f64) -> Self {
        Cell::number(fraction * 100.0, number::percent(fraction))
    }

    /// A loss, with its deviation where there are several runs, and with its interval where there is one.
    pub(crate) fn loss(spread: Spread) -> Self {
        Cell::spread(spread, number::loss, 1.0)
    }

    /// A fraction, shown in percent, with its deviation or its interval as a loss has them.
    pub(crate) fn accuracy(spread: Spread) -> Self {
        Cell::spread(spread, number::percent, 100.0)
    }

    fn spread(spread: Spread, print: fn(f64) -> String, unit: f64) -> Self {
        Cell {
            text: print(spread.mean),
            value: Some(spread.mean * unit),
            deviation: spread.deviation.map(|deviation| (deviation * unit, print(deviation))),
            ..Cell::default()
        }
        .within(spread.interval.map(|(low, high)| Interval::new(low, high, print, unit)))
    }

    /// The same cell with an interval, if there is one.
    pub(crate) fn within(self, interval: Option<Interval>) -> Self {
        Cell { interval, ..self }
    }

    /// The same cell, its interval in the data files alone: where a reader looks along a row of many numbers.
    pub(crate) fn interval_unprinted(mut self) -> Self {
        if let Some(interval) = &mut self.interval {
            interval.text.clear();
        }
        self
    }

    /// The same cell, made of the results of these cells of the pipeline.
    pub(crate) fn from<'a>(self, sources: impl IntoIterator<Item = &'a String>) -> Self {
        let mut sources: Vec<String> = sources.into_iter().cloned().collect();
        sources.sort();
        sources.dedup();
        Cell { sources, ..self }
    }

    /// As printed, with its deviation or interval.
    pub(super) fn full_text(&self) -> String {
        match (&self.deviation, self.printed_interval()) {
            (Some((_, deviation)), _) => format!("{} ± {deviation}", self.text),
            (None, Some(interval)) => format!("{} {interval}", self.text),
            (None, None) => self.text.clone(),
        }
    }

    /// Its interval, where that is printed.
    pub(super) fn printed_interval(&self) -> Option<&str> {
        self.interval.as_ref().map(|interval| interval.text.as_str()).filter(|text| !text.is_empty())
    }

    /// This was not run.
    pub(crate) fn not_run() -> Self {
        Cell { text: "not run".to_owned(), absent: true, ..Cell::default() }
    }

    /// There is nothing to say here: no such number exists.
    pub(crate) fn none() -> Self {
        Cell { text: "–".to_owned(), absent: true, ..Cell::default() }
    }

    /// Whether it is [`Cell::none`].
    pub(crate) fn is_none(&self) -> bool {
        self.absent && self.text == "–"
    }
}

impl Interval {
    /// From `low` to `high`, printed by `print`; its numbers are `unit` times as large.
    pub(crate) fn new(low: f64, high: f64, print: fn(f64) -> String, unit: f64) -> Self {
        Interval { low: low * unit, high: high * unit, text: format!("[{}, {}]", print(low), print(high)) }
    }
}
