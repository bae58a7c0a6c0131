//! Models beside a baseline, paired by game.

use crate::model::{Model, family_name};
use crate::number::{loss, signed};
use crate::plain_text::visible;
use crate::read::json_lines::Difference;
use crate::table::{Cell, Column, Interval, Row, Table};
use crate::test_set::TestSet;

/// A row for each model and test set.
pub(crate) fn differences(compared: &[(String, Vec<Difference>)]) -> Table {
    let mut all: Vec<_> = compared
        .iter()
        .flat_map(|(label, lines)| lines.iter().map(move |line| (label, line)))
        .map(|(label, line)| {
            let model =
                Model::new(&format!("m[{}]", visible(&line.variant)), &visible(&line.family), &visible(&line.size));
            (model, TestSet::from_name(&visible(&line.test)), line, label)
        })
        .collect();
    all.sort_by(|(model, test, ..), (other, tested, ..)| (test, model).cmp(&(tested, other)));
    let confidence = all.first().map_or(0.0, |(_, _, line, _)| line.confidence);
    let rows = all.iter().map(|(model, test, line, label)| {
        let from = |cell: Cell| cell.from([*label]);
        let number =
            |value: Option<f64>| value.map_or(Cell::none(), |value| from(Cell::number(value, signed(value, loss))));
        vec![Row::ours(vec![
            Cell::text(test.to_string()),
            Cell::text(model.name()),
            Cell::text(model.size.clone()),
            Cell::text(family_name(&visible(&line.baseline))),
            number(line.difference).within(
                line.low.zip(line.high).map(|(low, high)| Interval::new(low, high, |edge| signed(edge, loss), 1.0)),
            ),
            from(Cell::percent(line.lower_games)),
            from(Cell::count(line.games)),
        ])]
    });
    Table {
        id: "differences".into(),
        title: "Differences in loss, paired by game".into(),
        caption: format!(
            "Loss of each model less that of the baseline of its size on the same games, negative where the model is \
             better, with the interval that holds {} % of the differences when the games are drawn anew with replacement \
             (bootstrap); and the share of games on which its loss is lower.",
            crate::number::plain(confidence * 100.0)
        ),
        columns: vec![
            Column::text("Test set"),
            Column::text("Model"),
            Column::text("Size"),
            Column::text("Baseline"),
            Column::number("Difference"),
            Column::number("Games lower (%)"),
            Column::number("Games"),
        ],
        groups: rows.collect(),
        ..Table::default()
    }
}
