//! Table 1: the sets of games and their sizes.

use cwm_contract::Label;

use crate::paper::{Metric, Paper};
use crate::read::counts::{Counts, Labelled, TokenSet};
use crate::results::Results;
use crate::table::{Cell, Column, Row, Table};
use crate::test_set::TestSet;

/// Real counts of what was split and tested, beside the paper's.
pub(crate) fn splits(counts: &[Labelled], results: &Results, paper: &Paper) -> Table {
    let paper_games =
        |set: &str| paper.split(set, &Metric::Games).map_or(Cell::none(), |printed| Cell::count(printed.value as u64));
    let paper_share = |set: &str| {
        paper
            .split(set, &Metric::Share)
            .map_or(Cell::none(), |printed| Cell::number(printed.value, format!("≈ {}", printed.text)))
    };
    let mut groups = Vec::new();
    for labelled in counts {
        let Counts::Split { buckets, validation_buckets, train, validation } = &labelled.counts else {
            continue;
        };
        let all = train.games + validation.games;
        let row = |split: &str, games: u64, plies: u64, ours: Cell, theirs: Cell| {
            let share = if all > 0 { Cell::percent(games as f64 / all as f64) } else { Cell::none() };
            // A game of n plies has n + 1 positions, START being the first.
            let positions = Cell::count(plies + games);
            let from = Cell::text(labelled.label.clone());
            Row::ours(vec![Cell::text(split), from, Cell::count(games), positions, share, ours, theirs])
        };
        let plies = train.plies + validation.plies;
        let intended = *validation_buckets as f64 / (*buckets).max(1) as f64;
        groups.push(vec![
            row("Train and validation", all, plies, Cell::none(), paper_games("train_and_validation")),
            row("Train", train.games, train.plies, Cell::percent(1.0 - intended), Cell::none()),
            row("Validation", validation.games, validation.plies, Cell::percent(intended), paper_share("validation")),
        ]);
    }
    if groups.is_empty() {
        let mut cells = vec![Cell::text("Train and validation"), Cell::none()];
        cells.extend([Cell::not_run(), Cell::not_run(), Cell::not_run(), Cell::none()]);
        cells.push(paper_games("train_and_validation"));
        groups.push(vec![Row::ours(cells)]);
    }
    for (index, test) in results.tests.iter().enumerate() {
        let scored = || results.overall.iter().filter(|((_, at), _)| *at == index).map(|(_, overall)| overall);
        let cells = [
            Cell::count(scored().map(|overall| overall.games).max().unwrap_or(0)),
            Cell::count(scored().map(|overall| overall.positions).max().unwrap_or(0)),
        ];
        groups.push(vec![test_row(test, "bins", cells, paper_games(test.name()))]);
    }
    for test in TestSet::PAPER.iter().filter(|test| results.test(test).is_none()) {
        let row = match counts.iter().find_map(|labelled| Some((labelled, whole_set(labelled, test)?))) {
            Some((labelled, set)) => {
                let cells = [Cell::count(set.games), Cell::count(set.positions)];
                test_row(test, &labelled.label, cells, paper_games(test.name()))
            }
            None => test_row(test, "bins", [Cell::not_run(), Cell::not_run()], paper_games(test.name())),
        };
        groups.push(vec![row]);
    }
    Table {
        id: "table-01".into(),
        title: "Splits".into(),
        paper: Some("Table 1, Section 2.5"),
        caption: "Games and positions of each set as counted in this run; a position is a prefix of a game, the start \
                  included. The intended share is what the hash of a game's id assigns on average."
            .into(),
        columns: vec![
            Column::text("Split"),
            Column::text("From"),
            Column::number("Games"),
            Column::number("Positions"),
            Column::number("Share (%)"),
            Column::number("Intended share (%)"),
            Column::number("Paper"),
        ],
        groups,
        not_run: Vec::new(),
        shared_columns: 0,
        data: None,
    }
}

/// The one set of a `tokenize` that bears the name of `test`: as its label's `test` coordinate, else as its stage.
fn whole_set<'a>(labelled: &'a Labelled, test: &TestSet) -> Option<&'a TokenSet> {
    let Counts::Tokenize { sets, .. } = &labelled.counts else {
        return None;
    };
    let label: Label = labelled.label.parse().ok()?;
    let name = label.coordinates.iter().find(|(axis, _)| axis == "test").map_or(&label.stage, |(_, value)| value);
    let mut sets = sets.values();
    let set = sets.next().filter(|_| name == test.name())?;
    sets.next().is_none().then_some(set)
}

fn test_row(test: &TestSet, from: &str, [games, positions]: [Cell; 2], paper: Cell) -> Row {
    let title = match test {
        TestSet::HeldOut => "Held-out test".to_owned(),
        TestSet::RandomUniform => "Random-uniform test".to_owned(),
        TestSet::Other(name) => format!("Test {name}"),
    };
    Row::ours(vec![Cell::text(title), Cell::text(from), games, positions, Cell::none(), Cell::none(), paper])
}
