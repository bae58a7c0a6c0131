//! Models beside a baseline, paired by game.

use crate::model::{Model, family_name};
use crate::number::{loss, signed};
use crate::plain_text::visible;
use crate::read::json_lines::Difference;
use crate::table::{Cell, Column, Row, Table};
use crate::test_set::TestSet;

/// A row for each model and test set.
pub(crate) fn differences(compared: &[(String, Vec<Difference>)]) -> Table {
    let mut all: Vec<_> = compared
        .iter()
        .flat_map(|(_, lines)| lines)
        .map(|line| {
            let model =
                Model::new(&format!("m[{}]", visible(&line.variant)), &visible(&line.family), &visible(&line.size));
            (model, TestSet::from_name(&visible(&line.test)), line)
        })
        .collect();
    all.sort_by(|(model, test, _), (other, tested, _)| (test, model).cmp(&(tested, other)));
    let confidence = all.first().map_or(0.0, |(.., line)| line.confidence);
    let rows = all.iter().map(|(model, test, line)| {
        let number = |value: Option<f64>| value.map_or(Cell::none(), |value| Cell::number(value, signed(value, loss)));
        vec![Row::ours(vec![
            Cell::text(test.to_string()),
            Cell::text(model.name()),
            Cell::text(model.size.clone()),
            Cell::text(family_name(&visible(&line.baseline))),
            number(line.difference),
            number(line.low),
            number(line.high),
            Cell::percent(line.lower_games),
            Cell::count(line.games),
        ])]
    });
    Table {
        id: "differences".into(),
        title: "Differences in loss, paired by game".into(),
        paper: None,
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
            Column::number("from"),
            Column::number("to"),
            Column::number("Games lower (%)"),
            Column::number("Games"),
        ],
        groups: rows.collect(),
        not_run: Vec::new(),
        shared_columns: 0,
        data: None,
    }
}
