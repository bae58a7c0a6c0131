//! Test results under shifts that the paper does not have: no number of its stands beside them.

use crate::number;
use crate::results::{Overall, Results};
use crate::table::{Cell, Column, Row, Table};
use crate::tables::source;
use crate::test_set::TestSet;

/// A row for each model and test set that is not the paper's.
pub(crate) fn shifts(results: &Results) -> Table {
    let others = || results.tests.iter().enumerate().filter(|(_, test)| matches!(test, TestSet::Other(_)));
    let rows = |(index, model): (usize, &crate::model::Model)| {
        let rows = others().filter_map(|(test, set)| {
            let overall = results.overall.get(&(index, test))?;
            let mut cells = vec![Cell::text(model.name()), Cell::text(model.size.clone()), Cell::text(set.name())];
            cells.extend(measured(overall));
            Some(Row::ours(cells))
        });
        rows.collect::<Vec<_>>()
    };
    Table {
        id: "shifts".into(),
        title: "Test results under further shifts".into(),
        caption: "Test sets by the names that the pipeline gives them, which the paper does not have; the columns are \
                  those of the table above. Mean plies are moves a game, both sides' counted."
            .into(),
        columns: vec![
            Column::text("Model"),
            Column::text("Size"),
            Column::text("Test set"),
            Column::text("Source"),
            Column::number("Games"),
            Column::number("Positions"),
            Column::number("Mean plies"),
            Column::number("Loss"),
            Column::number("Labelwise (%)"),
            Column::number("ExactState (%)"),
            Column::number("Trajectory (%)"),
        ],
        groups: results.models.iter().enumerate().map(rows).filter(|rows| !rows.is_empty()).collect(),
        shared_columns: 2,
        ..Table::default()
    }
}

fn measured(overall: &Overall) -> [Cell; 8] {
    // A game of n plies has n + 1 positions, START being the first.
    let plies = overall.positions.saturating_sub(overall.games);
    let from = |cell: Cell| cell.from(overall.labels());
    [
        Cell::text(source(std::iter::once(overall.runs), overall.departures)),
        from(Cell::count(overall.games)),
        from(Cell::count(overall.positions)),
        number::mean(plies, overall.games).map_or(Cell::none(), |(value, text)| from(Cell::number(value, text))),
        overall.loss.map_or(Cell::none(), |loss| from(Cell::loss(loss))),
        from(Cell::accuracy(overall.labelwise)),
        from(Cell::accuracy(overall.exact)),
        from(Cell::accuracy(overall.trajectory)),
    ]
}
