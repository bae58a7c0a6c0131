//! Arms side by side, position by position.

use cwm_measures::Measure;
use cwm_page::{Column, Row, Table, TableCell, escape_controls};

use crate::papers::board_vs_moves::common::id;
use crate::papers::board_vs_moves::groups::{Group, Kind, difference_cell};
use crate::papers::board_vs_moves::tables::INTERVALS;

const MEASURES: [(Measure, &str); 4] = [
    (Measure::Loss, "Loss a move (nats)"),
    (Measure::Legal, "Legal (points)"),
    (Measure::Best, "Best (points)"),
    (Measure::MaskBest, "Best by mask (points)"),
];

/// Differences of every two controlled arms of one size.
pub(crate) fn differences(groups: &[Group]) -> Table {
    let mut columns: Vec<Column> =
        ["Test set", "Size", "Arm", "Less"].map(|name| Column::text(name).naming_rows()).into();
    columns.extend(MEASURES.map(|(_, name)| Column::number(name)));
    columns.push(Column::number("Positions"));
    let mut pairs = Vec::new();
    for group in groups.iter().filter(|group| group.kind == Kind::Controlled) {
        let arms = &group.compared.arms;
        for (one, measured) in arms.iter().enumerate() {
            for (two, other) in
                arms.iter().enumerate().skip(one + 1).filter(|(_, other)| other.arm.size == measured.arm.size)
            {
                let words = [
                    group.test.clone(),
                    escape_controls(&measured.arm.size),
                    escape_controls(&measured.arm.name),
                    escape_controls(&other.arm.name),
                ];
                let mut cells: Vec<TableCell> = words.map(TableCell::text).into();
                cells.extend(MEASURES.map(|(measure, _)| {
                    let found = group.compared.difference((one, measure), (two, measure), |_| true);
                    difference_cell(found, measure.is_rate(), [measured, other])
                }));
                cells.push(TableCell::count(group.compared.positions.len() as u64));
                pairs.push(vec![Row::ours(cells)]);
            }
        }
    }
    Table {
        id: id("differences"),
        title: "Controlled arms, position by position".into(),
        paper: None,
        caption: format!(
            "An arm less another of its size on the same positions; an interval that has 0 in it shows no difference. {INTERVALS} With \
             one seed an arm, the next seed may differ by more."
        ),
        columns,
        groups: pairs,
        noun: "pairs",
        folds: true,
        ..Table::default()
    }
}
