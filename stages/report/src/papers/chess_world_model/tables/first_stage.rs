//! Table 5: the best training of each family and size in the sweep.

use std::collections::BTreeSet;

use cwm_page::{Column, PaperComparison, Row, Table, TableCell, comparison_rows, escape_controls, number};

use crate::papers::chess_world_model::facts::{ChoiceStage, PaperFacts};
use crate::papers::chess_world_model::format;
use crate::papers::chess_world_model::model::Model;
use crate::papers::chess_world_model::read::json_lines::Candidate;
use crate::papers::chess_world_model::settings::{self, Settings};
use crate::papers::chess_world_model::tables::choices::{Choice, choices, not_run, setting};
use crate::papers::chess_world_model::tables::{EXACT_HEADING, metric_column};

/// Metrics of the last validation, by their names among the paper's facts.
const METRICS: [(&str, fn(&Candidate) -> Option<f64>); 4] = [
    ("loss", |candidate| candidate.loss),
    ("exact", |candidate| candidate.exact),
    ("labelwise", |candidate| candidate.labelwise),
    ("trajectory", |candidate| candidate.trajectory),
];

/// The training of rank 1 in each choice of a first stage, whether it was then taken or not.
pub(crate) fn first_stage(candidates: &[(String, Vec<Candidate>)], paper: &PaperFacts) -> Table {
    let choices = choices(candidates);
    let choices: Vec<_> = choices.iter().filter(|choice| choice.kind == ChoiceStage::FirstStage).collect();
    let more: BTreeSet<&String> = choices
        .iter()
        .flat_map(|choice| choice.candidates)
        .flat_map(|candidate| candidate.parameters.keys())
        .filter(|name| !Settings::NAMES.contains(&name.as_str()))
        .collect();
    let mut columns = vec![
        Column::text("Model").naming_rows(),
        Column::text("Size").naming_rows(),
        Column::text("Source"),
        Column::number("Val. loss"),
        metric_column(EXACT_HEADING),
        Column::number("Labelwise (%)"),
        Column::number("Trajectory (%)"),
    ];
    columns.extend(Settings::columns(4));
    columns.extend(more.iter().map(|name| Column::number(&escape_controls(name))));
    let missing = match choices.as_slice() {
        [] => Vec::new(),
        choices => not_run(choices.iter().map(|choice| &choice.model)),
    };
    Table {
        id: "table-05".into(),
        title: "Best first-stage configurations".into(),
        paper: Some("Table 5, Appendix C"),
        caption: "Of the trainings of each family and size in the sweep the one with the lowest last validation loss. All of \
                  them, and what was then chosen, stand under hyper-parameters tried."
            .into(),
        columns,
        groups: choices.iter().map(|choice| rows(&choice.model, Some(choice), &more, paper)).collect(),
        not_run: missing.iter().map(|model| rows(model, None, &more, paper)).collect(),
        noun: "models",
        shared_columns: 2,
        ..Table::default()
    }
}

fn rows(model: &Model, choice: Option<&&Choice>, more: &BTreeSet<&String>, paper: &PaperFacts) -> Vec<Row> {
    let best = choice.and_then(|choice| Some((choice, choice.ranked(1)?)));
    let from = |cell: TableCell| match best {
        Some((choice, best)) if !cell.absent => cell.with_sources(&choice.sources(best)),
        _ => cell,
    };
    let printed = |what: &str| paper.chosen(&model.family, &model.size, ChoiceStage::FirstStage, what);
    let mut columns: Vec<PaperComparison> = METRICS
        .iter()
        .map(|(name, read)| {
            let value = best.and_then(|(_, best)| read(best));
            let (print, cell): (fn(f64) -> String, fn(f64) -> TableCell) = match *name {
                "loss" => (format::loss, |loss| TableCell::number(loss, format::loss(loss))),
                _ => (number::two_decimals, TableCell::percent),
            };
            let cell = value.map(cell);
            PaperComparison::new(from(cell.unwrap_or_else(TableCell::none)), printed(name), print)
        })
        .collect();
    columns.extend(Settings::NAMES[..4].iter().map(|name| {
        let ours = best.and_then(|(_, best)| setting(best, name));
        PaperComparison::new(from(settings::cell(ours)), printed(name), number::setting)
    }));
    columns.extend(more.iter().map(|name| {
        PaperComparison::without_paper(best.map_or(TableCell::none(), |(_, best)| from(other(best, name))))
    }));
    let head = [TableCell::text(model.name()), TableCell::text(model.size.clone())];
    comparison_rows(&head, choice.map(|choice| choice.stage), &columns)
}

/// A parameter that the paper does not vary: a number, a text or a truth value.
fn other(candidate: &Candidate, name: &str) -> TableCell {
    match candidate.parameters.get(name) {
        None => TableCell::none(),
        Some(serde_json::Value::String(text)) => TableCell::text(escape_controls(text)),
        Some(value) => {
            value.as_f64().map_or_else(|| TableCell::text(value.to_string()), |number| settings::cell(Some(number)))
        }
    }
}
