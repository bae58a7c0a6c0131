//! Answers read by the release's rule and leniently.

use cwm_page::{Column, Row, Table, TableCell};

use super::{Unit, cell};
use crate::papers::reasoning::id;
use crate::papers::reasoning::measured::{BEST, LEGAL, Measurements, PREDICT, WORST};

/// The main measure of each task.
const MAIN: [(&str, &str); 4] = [(PREDICT, "legal"), (BEST, "accuracy"), (WORST, "accuracy"), (LEGAL, "iou_all")];

/// The table of runs whose answers were read by the release's rule and leniently.
pub(crate) fn readings(measured: &Measurements) -> Table {
    let rows = measured.runs().flat_map(|(experiment, player, phase)| {
        let lenient = measured.lenient.iter().find(|lenient| lenient.name == player.name);
        MAIN.iter().filter_map(move |(task, main)| {
            let lenient = lenient.filter(|lenient| lenient.measure(task, "reward").is_some())?;
            player.measure(task, "reward")?;
            let phase = phase.map_or(TableCell::none(), |phase| TableCell::text(phase.name()));
            let mut cells = vec![TableCell::text(&experiment.name), phase, TableCell::text(*task)];
            for (measure, unit) in [("readable", Unit::Percent), (*main, Unit::Percent), ("reward", Unit::Score)] {
                let found = [player, lenient].map(|player| cell(Some(player), task, measure, unit));
                cells.extend(found.map(TableCell::without_printed_interval));
            }
            Some(vec![Row::ours(cells)])
        })
    });
    let groups = rows.collect();
    let mut columns = ["Model", "After", "Task"].map(|name| Column::text(name).naming_rows()).to_vec();
    let headings = ["Readable (%)", "Legal, right or IoU (%)", "Reward"];
    columns
        .extend(headings.iter().flat_map(|over| ["Release", "Lenient"].map(|name| Column::number(name).under(*over))));
    Table {
        id: id("readings"),
        title: "Readings".into(),
        caption: "The same answers read by the release's rule, which made the paper's numbers, and leniently: any move in the answer, however it is \
                  written. The difference is form, not chess. 95 % intervals are in the files."
            .into(),
        columns,
        groups,
        noun: "rows",
        folds: true,
        ..Table::default()
    }
}
