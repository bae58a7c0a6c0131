//! Test results under shifts that the paper does not have: no number of its stands beside them.

use cwm_page::{Column, Row, Table, TableCell, number};

use crate::papers::chess_world_model::format;
use crate::papers::chess_world_model::model::Model;
use crate::papers::chess_world_model::results::{Overall, Results};
use crate::papers::chess_world_model::tables::remarks::loss_remarks;
use crate::papers::chess_world_model::tables::test_results::validated;
use crate::papers::chess_world_model::tables::{EXACT_HEADING, metric_column, source};
use crate::papers::chess_world_model::test_set::TestSet;

/// A row for each model and test set that is not the paper's.
pub(crate) fn shifts(results: &Results) -> Table {
    let others = || results.tests.iter().enumerate().filter(|(_, test)| matches!(test, TestSet::Other(_)));
    let rows = |(index, model): (usize, &Model), name: fn(&TestSet) -> String| {
        let rows = others().filter_map(|(test, set)| {
            let overall = results.overall.get(&(index, test))?;
            let mut cells =
                vec![TableCell::text(model.name()), TableCell::text(model.size.clone()), TableCell::text(name(set))];
            cells.extend(measured(overall));
            Some(Row::ours(cells))
        });
        rows.collect::<Vec<_>>()
    };
    let groups = |name: fn(&TestSet) -> String| -> Vec<Vec<Row>> {
        results.models.iter().enumerate().map(|model| rows(model, name)).filter(|rows| !rows.is_empty()).collect()
    };
    let columns = columns();
    let data =
        Table { columns: columns.clone(), groups: groups(TestSet::data_name), shared_columns: 2, ..Table::default() };
    Table {
        id: "shifts".into(),
        title: "Test results under further shifts".into(),
        caption: format!(
            "Test sets that the paper does not have, by the names that the pipeline gives them; the columns are those of \
             the test results. Mean plies are moves a game, both sides' counted.{}{}",
            others()
                .filter_map(|(_, test)| validated(results, test))
                .map(|remark| format!(" {}", remark.trim_end()))
                .collect::<String>(),
            loss_remarks(results, &others().map(|(_, test)| test).collect::<Vec<_>>(), |_| true)
        ),
        columns,
        groups: groups(TestSet::to_string),
        noun: "models",
        shared_columns: 2,
        folds: true,
        data: Some(Box::new(data)),
        ..Table::default()
    }
}

fn columns() -> Vec<Column> {
    vec![
        Column::text("Model").naming_rows(),
        Column::text("Size").naming_rows(),
        Column::text("Test set").naming_rows(),
        Column::text("Source"),
        Column::number("Games"),
        Column::number("Positions"),
        Column::number("Mean plies"),
        Column::number("Loss"),
        Column::number("Labelwise (%)"),
        metric_column(EXACT_HEADING),
        Column::number("Trajectory (%)"),
    ]
}

fn measured(overall: &Overall) -> [TableCell; 8] {
    // A game of n plies has n + 1 positions, START being the first.
    let plies = overall.positions.saturating_sub(overall.games);
    let from = |cell: TableCell| cell.with_sources(overall.labels());
    [
        TableCell::text(source(std::iter::once(overall.runs), overall.departures)),
        from(TableCell::count(overall.games)),
        from(TableCell::count(overall.positions)),
        number::mean(plies, overall.games)
            .map_or(TableCell::none(), |(value, text)| from(TableCell::number(value, text))),
        overall.loss.map_or(TableCell::none(), |loss| from(format::loss_cell(loss))),
        from(format::accuracy_cell(overall.labelwise)),
        from(format::accuracy_cell(overall.exact)),
        from(format::accuracy_cell(overall.trajectory)),
    ]
}
