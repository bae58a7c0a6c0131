//! What was chosen from: the trainings of a sweep, or of a second stage, by rank.

use crate::model::Model;
use crate::paper::{ChosenIn, Paper};
use crate::plain_text::visible;
use crate::read::json_lines::Candidate;
use crate::table::{Cell, Column, Row, RowKind, Table};

/// Ranks shown on the page; the CSV has all.
const SHOWN: u64 = 3;

/// A group of rows for each choice: the first few of its trainings, the chosen one, and how many were set aside.
/// Where the paper has made that choice, its own stands below.
pub(crate) fn candidates(choices: &[(String, Vec<Candidate>)], paper: &Paper) -> Table {
    let mut choices: Vec<_> = choices.iter().filter(|(_, candidates)| !candidates.is_empty()).collect();
    choices.sort_by_cached_key(|(label, candidates)| {
        let stage = label.split('[').next().unwrap_or_default().to_owned();
        (stage, Model::new("", &visible(&candidates[0].family), &visible(&candidates[0].size)))
    });
    let shown = |candidate: &&Candidate| candidate.chosen || candidate.rank.is_some_and(|rank| rank <= SHOWN);
    let page = choices.iter().map(|(label, candidates)| {
        let mut rows: Vec<_> = candidates.iter().filter(shown).map(|candidate| row(label, candidate)).collect();
        let hidden = candidates.len() - rows.len();
        let aside = candidates.iter().filter(|candidate| candidate.rank.is_none()).count();
        if hidden > 0 {
            let words = format!("{hidden} more, of which {aside} were set aside");
            let mut cells = row(label, &candidates[0]).cells;
            cells.truncate(3);
            cells.extend([Cell::none(), Cell::text(words)]);
            cells.resize_with(columns().len(), Cell::none);
            rows.push(Row::ours(cells));
        }
        rows.extend(papers(label, &candidates[0], paper));
        rows
    });
    let groups: Vec<_> = page.collect();
    let all = choices.iter().map(|(label, candidates)| candidates.iter().map(|one| row(label, one)).collect());
    Table {
        id: "candidates".into(),
        title: "Hyper-parameters chosen".into(),
        paper: Some("Tables 5 to 7, Appendix C"),
        caption: format!(
            "Of the trainings of each family and size the one with the lowest last validation loss is chosen, unless an \
             override says otherwise; those that diverged are set aside. The first {SHOWN} and the chosen one stand \
             here, and the paper's choice; the CSV has all, with why they were set aside."
        ),
        columns: columns(),
        groups,
        not_run: Vec::new(),
        shared_columns: 3,
        data: Some(Box::new(Table { columns: columns(), groups: all.collect(), ..Table::default() })),
    }
}

fn columns() -> Vec<Column> {
    vec![
        Column::text("Choice"),
        Column::text("Model"),
        Column::text("Size"),
        Column::number("Rank"),
        Column::text("Hyper-parameters"),
        Column::number("Val. loss"),
        Column::number("ExactState (%)"),
        Column::number("Labelwise (%)"),
        Column::number("Trajectory (%)"),
        Column::text("Note"),
    ]
}

/// What the paper chose for that family and size, of a sweep or between floors.
fn papers(label: &str, candidate: &Candidate, paper: &Paper) -> Option<Row> {
    let stage =
        if candidate.parameters.contains_key("lr_floor") { ChosenIn::SecondStage } else { ChosenIn::FirstStage };
    let printed = |what: &str| paper.chosen(&candidate.family, &candidate.size, &stage, what);
    printed("loss")?;
    let named = ["beta2", "lr", "lr_floor", "warmup", "weight_decay"];
    let parameters: Vec<_> = named.iter().filter_map(|name| Some(format!("{name} {}", printed(name)?.text))).collect();
    let percent =
        |what| printed(what).map_or(Cell::none(), |printed| Cell::number(printed.value, printed.text.clone()));
    let mut cells = row(label, candidate).cells;
    cells.truncate(3);
    let loss = printed("loss").map(|printed| Cell::number(printed.value, crate::number::loss(printed.value)));
    cells.extend([Cell::none(), Cell::text(parameters.join(", ")), loss.unwrap_or_else(Cell::none)]);
    cells.extend(["exact", "labelwise", "trajectory"].map(percent));
    cells.push(Cell::text("paper"));
    Some(Row { kind: RowKind::Paper, cells })
}

fn row(label: &str, candidate: &Candidate) -> Row {
    let model = Model::new("", &visible(&candidate.family), &visible(&candidate.size));
    let parameters: Vec<_> = candidate
        .parameters
        .iter()
        .map(|(name, value)| match value {
            serde_json::Value::String(text) => format!("{} {}", visible(name), visible(text)),
            other => format!("{} {other}", visible(name)),
        })
        .collect();
    let percent = |value: Option<f64>| value.map_or(Cell::none(), Cell::percent);
    let note = match (&candidate.why, candidate.chosen) {
        (Some(why), true) => format!("chosen: {}", visible(why)),
        (Some(why), false) => format!("set aside: {}", visible(why)),
        (None, _) => String::new(),
    };
    Row::ours(vec![
        Cell::text(label.split('[').next().unwrap_or_default()),
        Cell::text(model.name()),
        Cell::text(model.size.clone()),
        candidate.rank.map_or(Cell::none(), Cell::count),
        Cell::text(parameters.join(", ")),
        candidate.loss.map_or(Cell::none(), |loss| Cell::number(loss, crate::number::loss(loss))),
        percent(candidate.exact),
        percent(candidate.labelwise),
        percent(candidate.trajectory),
        Cell::text(note),
    ])
}
