//! Table 4: parameter counts.

use crate::number::{millions, signed};
use crate::paper::Paper;
use crate::results::Results;
use crate::table::{Cell, Column, Row, Table};

/// Of the models that were trained, beside the paper's where it has that family and size.
pub(crate) fn parameter_counts(results: &Results, paper: &Paper) -> Table {
    let rows = results.models.iter().zip(&results.parameters).map(|(model, parameters)| {
        let printed = paper.parameters(&model.family, &model.size);
        let theirs = printed.map_or(Cell::none(), |printed| Cell::number(printed.value, printed.text.clone()));
        let difference = match (parameters, printed) {
            (Some(ours), Some(printed)) => {
                let difference = *ours as f64 / 1e6 - printed.value;
                Cell::number(difference, signed(difference, |value| format!("{value:.2}").replace('-', "−")))
            }
            _ => Cell::none(),
        };
        vec![Row::ours(vec![
            Cell::text(model.name()),
            Cell::text(model.size.clone()),
            parameters.map_or(Cell::none(), Cell::count),
            parameters.map_or(Cell::none(), |number| Cell::number(number as f64 / 1e6, millions(number))),
            theirs,
            difference,
        ])]
    });
    Table {
        id: "table-04".into(),
        title: "Parameter counts".into(),
        paper: Some("Table 4, Appendix B.2"),
        caption: "Trained parameters of each model of this run; the difference is in millions, to the paper's two \
                  decimals."
            .into(),
        groups: rows.collect(),
        columns: vec![
            Column::text("Model"),
            Column::text("Size"),
            Column::number("Parameters"),
            Column::number("Millions"),
            Column::number("Paper (millions)"),
            Column::number("Difference"),
        ],
        not_run: Vec::new(),
        shared_columns: 0,
        data: None,
    }
}
