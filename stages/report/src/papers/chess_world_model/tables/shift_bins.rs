//! Accuracy by prefix length on test sets that the paper does not have: one table for all of them.

use std::collections::BTreeSet;

use cwm_page::{Column, Row, Table, TableCell};

use crate::papers::chess_world_model::facts::PaperFacts;
use crate::papers::chess_world_model::model::Model;
use crate::papers::chess_world_model::results::Results;
use crate::papers::chess_world_model::tables::prefix_bins::{
    Accuracy, bins, cell, departures, every_bin, every_bin_columns, scored, spread_out, starts,
};
use crate::papers::chess_world_model::tables::source;
use crate::papers::chess_world_model::tables::test_results::validated;
use crate::papers::chess_world_model::test_set::TestSet;

/// A row for each model and test set; a selection of bins to read, all of them in its data.
pub(crate) fn shift_bins(results: &Results, paper: &PaperFacts, accuracy: Accuracy) -> Table {
    let width = results.bin_width();
    let tests: Vec<&TestSet> = results.tests.iter().filter(|test| matches!(test, TestSet::Other(_))).collect();
    let all: BTreeSet<u64> = tests.iter().flat_map(|test| starts(results, test)).collect();
    let shown = spread_out(&all);
    let rows = |(index, model): (usize, &Model)| {
        let rows = tests.iter().filter_map(|test| {
            let bins = bins(results, index, test);
            let runs = bins.iter().map(|bin| bin.runs).max()?;
            let mut cells = vec![
                TableCell::text(model.name()),
                TableCell::text(model.size.clone()),
                TableCell::text(test.to_string()),
                TableCell::text(source(std::iter::once(runs), departures(results, model, test))),
            ];
            let at = |start: &u64| bins.iter().find(|bin| bin.start == *start);
            cells.extend(shown.iter().map(|start| {
                at(start).map_or(TableCell::none(), |bin| cell(bin, accuracy).without_printed_interval())
            }));
            Some(Row::ours(cells))
        });
        rows.collect::<Vec<_>>()
    };
    let texts = ["Model", "Size", "Test set", "Source"].map(|name| Column::text(name).naming_rows());
    let numbers = shown.iter().map(|start| Column::number(&format!("{start}–{}", start + width)));
    let every = tests.iter().flat_map(|test| every_bin(results, paper, test, accuracy, scored(results, test).iter()));
    let data =
        Table { columns: every_bin_columns(accuracy), groups: every.collect(), shared_columns: 5, ..Table::default() };
    Table {
        id: match accuracy {
            Accuracy::Exact => "shifts-exact".into(),
            Accuracy::Labelwise => "shifts-labelwise".into(),
        },
        title: format!("{} accuracy by prefix length under further shifts", accuracy.name()),
        caption: format!(
            "Percent, in bins of {width} plies played, the start of the game being 0; a selection, the data files have \
             every bin. A dash means that no game is that long.{}",
            tests
                .iter()
                .filter_map(|test| validated(results, test))
                .map(|remark| format!(" {}", remark.trim_end()))
                .collect::<String>()
        ),
        columns: texts.into_iter().chain(numbers).collect(),
        groups: results.models.iter().enumerate().map(rows).filter(|rows| !rows.is_empty()).collect(),
        noun: "models",
        shared_columns: 2,
        folds: true,
        data: Some(Box::new(data)),
        ..Table::default()
    }
}
