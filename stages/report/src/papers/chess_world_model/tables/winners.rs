//! Counts how often the winner by validation loss is the winner by another metric: the counts in the text of Appendix
//! C.

use cwm_page::{Column, PaperComparison, Row, RowKind, Table, TableCell, comparison_rows, escape_controls};

use crate::papers::chess_world_model::facts::{ChoiceStage, Metric, PaperFacts};
use crate::papers::chess_world_model::read::json_lines::Candidate;
use crate::papers::chess_world_model::tables::choices::{Choice, choices};

/// A metric that the text counts: its heading, its value, the paper's fact.
type CountedMetric = (&'static str, fn(&Candidate) -> Option<f64>, Metric);

const COUNTED: [CountedMetric; 2] = [
    ("ExactState", |candidate| candidate.exact, Metric::ExactWinners),
    ("Labelwise", |candidate| candidate.labelwise, Metric::LabelwiseWinners),
];

/// A group for each metric.
pub(crate) fn winners(candidates: &[(String, Vec<Candidate>)], paper: &PaperFacts) -> Table {
    let choices = choices(candidates);
    let cells: Vec<&Choice> =
        choices.iter().filter(|choice| choice.kind == ChoiceStage::FirstStage && choice.ranked(1).is_some()).collect();
    let groups: Vec<_> =
        COUNTED.iter().filter(|_| !cells.is_empty()).map(|counted| rows(counted, &cells, paper)).collect();
    Table {
        id: "winners".into(),
        title: "Where the winner by loss is the winner by another metric".into(),
        paper: Some("text of Appendix C"),
        caption: "Of the families and sizes of the sweep, those in which the training with the lowest last validation loss is \
                  also the best by another metric of that validation. One that shares the best value is the best, too. \
                  There is a difference only where as many cells were counted as in the paper."
            .into(),
        columns: vec![
            Column::text("Winner by loss is winner by").with_key("metric"),
            Column::text("Source"),
            Column::number("Cells"),
            Column::number("Agree"),
        ],
        groups,
        shared_columns: 1,
        ..Table::default()
    }
}

fn rows((name, read, fact): &CountedMetric, cells: &[&Choice], paper: &PaperFacts) -> Vec<Row> {
    let agree = cells.iter().filter(|cell| agrees(cell, *read)).count();
    let labels: Vec<String> = cells
        .iter()
        .flat_map(|cell| {
            let ranked = cell.candidates.iter().filter(|candidate| candidate.rank.is_some());
            ranked.map(|candidate| escape_controls(&candidate.label)).chain([cell.label.clone()])
        })
        .collect();
    let printed = |metric: &Metric| paper.split("first_stage", metric);
    let columns = [
        PaperComparison::count(TableCell::count(cells.len() as u64).with_sources(&labels), printed(&Metric::Cells)),
        PaperComparison::count(TableCell::count(agree as u64).with_sources(&labels), printed(fact)),
    ];
    let mut rows = comparison_rows(&[TableCell::text(*name)], Some("this run"), &columns);
    // Counts out of different numbers have no difference that means anything.
    if printed(&Metric::Cells).is_none_or(|printed| printed.value != cells.len() as f64) {
        rows.retain(|row| row.kind != RowKind::Difference);
    }
    rows
}

/// Returns true if no ranked training has a higher value than the one of rank 1. One that is no number is not higher,
/// and is not the best.
fn agrees(choice: &Choice, read: fn(&Candidate) -> Option<f64>) -> bool {
    let winner = choice.ranked(1).and_then(read);
    let ranked = choice.candidates.iter().filter(|candidate| candidate.rank.is_some());
    winner.is_some_and(|winner| {
        !winner.is_nan() && ranked.filter_map(read).all(|value| value.is_nan() || value <= winner)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the first of the trainings by loss is the best by exact state, which of each is a number or a text.
    fn check(exact: &[serde_json::Value], agrees: u64) {
        let candidate = |(index, exact): (usize, &serde_json::Value)| -> Candidate {
            serde_json::from_value(serde_json::json!({
                "rank": index + 1, "chosen": index == 0, "why": null, "label": "s", "family": "slice", "size": "d8/l1",
                "parameters": {}, "loss": 0.5, "labelwise": 0.5, "exact": exact, "trajectory": 0.5,
            }))
            .unwrap()
        };
        let candidates = [("choice".to_owned(), exact.iter().enumerate().map(candidate).collect::<Vec<Candidate>>())];
        let table = winners(&candidates, &PaperFacts::load().unwrap());
        let agree = &table.groups[0][0].cells[3];
        assert_eq!(agree.value, Some(agrees as f64), "{exact:?}");
    }

    #[test]
    fn what_is_no_number_is_neither_higher_nor_the_best() {
        let number = |value: f64| serde_json::json!(value);
        let nan = serde_json::json!("nan");
        check(&[number(0.5), number(0.25), nan.clone()], 1);
        check(&[number(0.5), nan.clone(), number(0.75)], 0);
        check(&[nan.clone(), number(0.25)], 0);
        check(&[nan], 0);
    }
}
