//! Verdicts on answers, faults of wrong moves, and the answers that form and keys cost.

use cwm_answers::Tally;
use cwm_page::{Column, Row, Table, TableCell};

use super::{accuracy, share, with_source};
use crate::papers::questions::id;
use crate::papers::questions::measured::{MeasuredRun, Measurements};

/// The verdicts with their colours in figures, from right to wrong.
pub(crate) const VERDICTS: [(&str, usize, fn(&Tally) -> u64); 7] = [
    ("correct", 2, |tally| tally.correct),
    ("extra entries", 0, |tally| tally.multi_extra_items),
    ("missing entries", 3, |tally| tally.multi_missing_items),
    ("false entries", 4, |tally| tally.multi_false_items),
    ("wrong answer", 1, |tally| tally.wrong_answer),
    ("no final answer", 5, |tally| tally.format_error),
    ("cut at the limit", 6, |tally| tally.max_token_reached),
];

/// The faults of wrong moves.
const FAULTS: [(&str, fn(&Tally) -> u64); 4] = [
    ("illegal", |tally| tally.illegal_move),
    ("legal", |tally| tally.legal_but_wrong),
    ("no move", |tally| tally.not_a_move),
    ("`none`", |tally| tally.says_none),
];

/// Figure 4.
pub(crate) fn verdicts(measured: &Measurements) -> Table {
    let mut columns = vec![Column::text("Run").naming_rows(), Column::number("Items")];
    columns.extend(VERDICTS.map(|(name, ..)| Column::number(name).under("Verdicts (%)").with_over_key("verdict")));
    columns.extend(FAULTS.map(|(name, _)| Column::number(name).under("Wrong moves").with_over_key("wrong_move")));
    let row = |run: &MeasuredRun| {
        let tally = &run.overall;
        let shares = VERDICTS.iter().map(|(.., count)| share(count(tally), tally.items));
        let faults = FAULTS.iter().map(|(_, count)| TableCell::count(count(tally)));
        let mut cells = vec![TableCell::text(&run.name), TableCell::count(tally.items)];
        cells.extend(with_source(run, shares.chain(faults)));
        vec![Row::ours(cells)]
    };
    Table {
        id: id("verdicts"),
        title: "What answers are".into(),
        paper: Some("Figure 4, Section 4.2"),
        caption: "Verdicts by the published rule, in percent. The length counts first: an answer that is as long as allowed is wrong whatever it \
                  is. Beside them how many answers in place of one move are illegal, legal but not the key, no move, or `none`."
            .into(),
        columns,
        groups: measured.runs.iter().map(row).collect(),
        noun: "runs",
        ..Table::default()
    }
}

/// Correct beside sound.
pub(crate) fn sound(measured: &Measurements) -> Table {
    let headings = ["Items", "Correct (%)", "Sound (%)", "Format cost", "Key cost", "Unread"];
    let mut columns = vec![Column::text("Run").naming_rows(), Column::text("Category").naming_rows()];
    columns.extend(headings.map(Column::number));
    let row = |run: &MeasuredRun, category: Option<&str>| {
        let tally = run.tally(category)?;
        let mut cells =
            vec![TableCell::text(&run.name), TableCell::text(category.unwrap_or("all")), TableCell::count(tally.items)];
        let counts = [tally.format_cost, tally.key_cost, tally.unread].map(TableCell::count);
        let shares = [accuracy(tally), share(tally.sound, tally.items)];
        cells.extend(with_source(run, shares.into_iter().chain(counts)));
        Some(vec![Row::ours(cells)])
    };
    let categories = measured.categories();
    let groups = measured.runs.iter().flat_map(|run| {
        let all = std::iter::once(None).chain(categories.iter().map(|category| Some(category.as_str())));
        all.filter_map(|category| row(run, category)).collect::<Vec<_>>()
    });
    Table {
        id: id("sound"),
        title: "Correct and sound".into(),
        caption: "Format cost is the number of answers that are sound but not correct: right chess in another form. Key cost is the number of \
                  those that are correct but not sound: keys that are not what their prompt asks for. Unread answers cannot be read as one."
            .into(),
        columns,
        groups: groups.collect(),
        folds: true,
        ..Table::default()
    }
}
