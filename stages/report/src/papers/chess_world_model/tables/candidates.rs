//! The candidates of a choice: the trainings of a sweep, or of a second stage, by rank.

use std::collections::BTreeSet;

use cwm_page::{Column, Row, Table, TableCell, escape_controls, number};

use crate::papers::chess_world_model::format;
use crate::papers::chess_world_model::read::json_lines::Candidate;
use crate::papers::chess_world_model::tables::choices::{Choice, choices};
use crate::papers::chess_world_model::tables::{EXACT_HEADING, metric_column};

/// Ranks shown on the page; the data files have all.
const SHOWN: u64 = 3;

/// A group of rows for each choice: the first few of its trainings, the chosen one, and how many were excluded.
pub(crate) fn candidates(candidates: &[(String, Vec<Candidate>)]) -> Table {
    let choices = choices(candidates);
    let shown = |candidate: &&Candidate| candidate.chosen || candidate.rank.is_some_and(|rank| rank <= SHOWN);
    let page = choices.iter().map(|choice| {
        let mut rows: Vec<_> = choice.candidates.iter().filter(shown).map(|candidate| row(choice, candidate)).collect();
        let hidden = choice.candidates.len() - rows.len();
        let excluded = choice.candidates.iter().filter(|candidate| candidate.rank.is_none()).count();
        if hidden > 0 {
            let mut cells = head(choice).to_vec();
            cells.extend([
                TableCell::none(),
                TableCell::text(format!("{hidden} more, of which {excluded} were excluded")),
            ]);
            cells.resize_with(columns().len(), TableCell::none);
            rows.push(Row::ours(cells));
        }
        rows
    });
    Table {
        id: "candidates".into(),
        title: "Hyper-parameters tried".into(),
        caption: format!(
            "Of the trainings of each family and size the one with the lowest last validation loss is chosen, unless the \
             pipeline names another; those that diverged are excluded. The first {SHOWN} and the chosen one stand here; \
             the data files have all, with why they were excluded."
        ),
        columns: columns(),
        groups: page.collect(),
        shared_columns: 3,
        folds: true,
        data: Some(Box::new(data(&choices))),
        ..Table::default()
    }
}

fn columns() -> Vec<Column> {
    vec![
        Column::text("Choice").naming_rows(),
        Column::text("Model").naming_rows(),
        Column::text("Size").naming_rows(),
        Column::number("Rank").naming_rows(),
        Column::text("Hyper-parameters"),
        Column::number("Val. loss"),
        metric_column(EXACT_HEADING),
        Column::number("Labelwise (%)"),
        Column::number("Trajectory (%)"),
        Column::text("Note"),
    ]
}

fn head(choice: &Choice) -> [TableCell; 3] {
    [TableCell::text(choice.stage), TableCell::text(choice.model.name()), TableCell::text(choice.model.size.clone())]
}

fn row(choice: &Choice, candidate: &Candidate) -> Row {
    let parameters: Vec<_> = candidate
        .parameters
        .iter()
        .map(|(name, value)| format!("{} {}", escape_controls(name), words(value)))
        .collect();
    let mut cells = head(choice).to_vec();
    cells.extend([rank(candidate), TableCell::text(parameters.join(", "))]);
    cells.extend(measured(choice, candidate));
    cells.push(note(candidate));
    Row::ours(cells)
}

/// All of them, with a column for each hyper-parameter.
fn data(choices: &[Choice]) -> Table {
    let all = || choices.iter().flat_map(|choice| choice.candidates);
    let names: BTreeSet<&String> = all().flat_map(|candidate| candidate.parameters.keys()).collect();
    let mut columns = columns();
    let own = names.iter().map(|name| Column::number(&escape_controls(name)));
    drop(columns.splice(4..5, [Column::text("Training")].into_iter().chain(own)));
    let row = |choice: &Choice, candidate: &Candidate| {
        let mut cells = head(choice).to_vec();
        cells.extend([rank(candidate), TableCell::text(escape_controls(&candidate.label))]);
        cells.extend(names.iter().map(|name| match candidate.parameters.get(*name) {
            None => TableCell::none(),
            Some(value) => value.as_f64().map_or_else(
                || TableCell::text(words(value)),
                |value| TableCell::number(value, number::setting(value)),
            ),
        }));
        cells.extend(measured(choice, candidate));
        cells.push(note(candidate));
        Row::ours(cells)
    };
    let groups = choices.iter().map(|choice| choice.candidates.iter().map(|one| row(choice, one)).collect());
    Table { groups: groups.collect(), columns, shared_columns: 3, ..Table::default() }
}

fn words(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => escape_controls(text),
        other => other.to_string(),
    }
}

fn rank(candidate: &Candidate) -> TableCell {
    candidate.rank.map_or(TableCell::none(), TableCell::count)
}

fn measured(choice: &Choice, candidate: &Candidate) -> [TableCell; 4] {
    let percent = |value: Option<f64>| value.map(TableCell::percent);
    let loss = candidate.loss.map(|loss| TableCell::number(loss, format::loss(loss)));
    [loss, percent(candidate.exact), percent(candidate.labelwise), percent(candidate.trajectory)]
        .map(|cell| cell.map_or(TableCell::none(), |cell| cell.with_sources(&choice.sources(candidate))))
}

fn note(candidate: &Candidate) -> TableCell {
    TableCell::text(match (&candidate.why, candidate.chosen) {
        (Some(why), true) => format!("chosen: {}", escape_controls(why)),
        (Some(why), false) => format!("excluded: {}", escape_controls(why)),
        (None, _) => String::new(),
    })
}
