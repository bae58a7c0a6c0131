//! Lines through models.

use cwm_page::{Column, Row, RowKind, Table, TableCell, number};

use super::three;
use crate::papers::reasoning::id;
use crate::papers::reasoning::predictors::{Points, Source};

/// Figure 7.
pub(crate) fn predictors(all: &[Points]) -> Table {
    let row = |points: &Points| {
        let (kind, source) = match points.source {
            Source::Ours => (RowKind::Ours, "this run"),
            Source::Paper => (RowKind::Paper, "printed values"),
        };
        let score = |value: f64| TableCell::number(value, three(value));
        let line = points.line.map(|line| {
            let p = if line.p < 0.001 { number::power_of_ten(line.p) } else { three(line.p) };
            [score(line.slope), score(line.r2), TableCell::number(line.p, p)]
        });
        let mut cells = vec![TableCell::text(points.predictor.name), TableCell::text(source)];
        cells.push(TableCell::count(points.points.len() as u64));
        cells.extend(line.unwrap_or([TableCell::none(), TableCell::none(), TableCell::none()]));
        vec![Row { kind, cells }]
    };
    let (ours, papers): (Vec<&Points>, Vec<&Points>) = all.iter().partition(|points| points.source == Source::Ours);
    let mut columns = vec![Column::text("Measure after fine-tuning").naming_rows(), Column::text("Source")];
    columns.extend(["Models", "Slope", "r²", "p"].map(Column::number));
    Table {
        id: id("predictors"),
        title: "What foretells the final model".into(),
        paper: Some("Figure 7, Section 4.3"),
        caption: "Least squares over models: a measure after fine-tuning against the mean, after reinforcement learning, of legal moves, rank, IoU, \
                  best and worst move. Shares are from 0 to 1. Printed values are those of the paper's Tables 1 and 2, fitted here. The \
                  paper does not define its mean."
            .into(),
        columns,
        groups: ours.into_iter().map(row).collect(),
        not_run: papers.into_iter().map(row).collect(),
        noun: "measures",
        ..Table::default()
    }
}
