//! The data sets that models were fine-tuned on.

use cwm_page::{Column, Row, Table, TableCell, escape_controls, number};

use crate::papers::reasoning::id;
use crate::papers::reasoning::measured::Measurements;

/// Figure 15.
pub(crate) fn mixtures(measured: &Measurements) -> Table {
    let groups = measured.mixtures.iter().map(|(name, label, mixture)| {
        let rows = mixture.sources.iter().map(|source| {
            let share = source.tokens as f64 / mixture.tokens.max(1) as f64;
            let numbers = [
                TableCell::number(source.weight, number::setting(source.weight)),
                TableCell::count(source.examples as u64),
                TableCell::count(source.tokens),
                TableCell::percent(share),
            ];
            let mut cells = vec![TableCell::text(name), TableCell::text(escape_controls(&source.source))];
            cells.extend(numbers.map(|cell| cell.with_sources([label])));
            cells.push(TableCell::text(if source.exhausted { "ran dry" } else { "" }));
            Row::ours(cells)
        });
        rows.collect()
    });
    let groups: Vec<Vec<Row>> = groups.collect();
    let mut columns = ["Model", "Data set"].map(|name| Column::text(name).naming_rows()).to_vec();
    columns.extend(["Weight", "Examples", "Tokens", "Share (%)"].map(Column::number));
    columns.push(Column::text("Note"));
    Table {
        id: id("mixtures"),
        title: "Data sets of the mixes".into(),
        paper: Some("Figure 15, Appendix E"),
        caption: "What each mix took of its data sets: tokens of what is learnt alone, in one pass. A data set that ran dry ended its mix.".into(),
        columns,
        groups,
        noun: "mixes",
        shared_columns: 1,
        ..Table::default()
    }
}
