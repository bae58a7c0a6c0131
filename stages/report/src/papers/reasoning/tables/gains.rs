//! The changes by reinforcement learning.

use cwm_measures::Estimate;
use cwm_page::{Column, Interval, Row, Table, TableCell, number};

use super::three;
use crate::papers::reasoning::gains::Gain;
use crate::papers::reasoning::id;

/// A row for each model, task and measure.
pub(crate) fn gains(gains: &[Gain]) -> Table {
    let estimate = |estimate: &Estimate, print: fn(f64) -> String, gain: &Gain| {
        let interval = estimate.interval.map(|(low, high)| Interval::new(low, high, print, 1.0));
        TableCell::number(estimate.mean, print(estimate.mean)).with_interval(interval).with_sources(&gain.labels)
    };
    let row = |gain: &Gain| {
        let mut cells = [&gain.experiment, &gain.task].map(TableCell::text).to_vec();
        cells.extend([TableCell::text(gain.measure), TableCell::count(gain.difference.positions)]);
        cells.extend([&gain.before, &gain.after].map(|found| estimate(found, three, gain).without_printed_interval()));
        cells.push(estimate(&gain.difference, |value| number::signed(value, three), gain));
        vec![Row::ours(cells)]
    };
    let mut columns = ["Model", "Task", "Measure"].map(|name| Column::text(name).naming_rows()).to_vec();
    columns.extend(["Items", "SFT", "RL", "Difference"].map(Column::number));
    Table {
        id: id("gains"),
        title: "Before and after, item by item".into(),
        caption: "Mean reward, and share of legal moves, after fine-tuning and after reinforcement learning. The difference is paired by item, \
                  with its 95 % interval."
            .into(),
        columns,
        groups: gains.iter().map(row).collect(),
        noun: "rows",
        ..Table::default()
    }
}
