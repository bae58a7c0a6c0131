//! Accuracy by task.

use cwm_page::{Column, Row, Table, TableCell};

use super::{accuracy, with_source};
use crate::papers::questions::id;
use crate::papers::questions::measured::Measurements;

/// A row for each task, a column for each run.
pub(crate) fn tasks(measured: &Measurements) -> Table {
    let mut columns = vec![Column::text("Task").naming_rows(), Column::text("Category")];
    columns.extend(["Items", "Positions", "Chance (%)"].map(Column::number));
    columns.extend(measured.runs.iter().map(|run| Column::number(&run.name)));
    let groups = measured.items.iter().map(|(label, count)| {
        let mut cells = vec![TableCell::text(&count.task), TableCell::text(&count.category)];
        cells.extend([
            TableCell::count(count.items),
            TableCell::count(count.positions),
            TableCell::percent(count.chance),
        ]);
        cells.extend(measured.runs.iter().flat_map(|run| {
            let tally = run.task(&count.task).filter(|_| run.label == *label);
            with_source(run, [tally.map_or(TableCell::none(), |tally| accuracy(tally).without_printed_interval())])
        }));
        vec![Row::ours(cells)]
    });
    Table {
        id: id("tasks"),
        title: "Accuracy by task".into(),
        caption: "Correct answers in percent, beside what chance has: a guess among options or legal moves; of lists and positions nothing. 95 % \
                  intervals are in the files."
            .into(),
        columns,
        groups: groups.collect(),
        noun: "tasks",
        ..Table::default()
    }
}
