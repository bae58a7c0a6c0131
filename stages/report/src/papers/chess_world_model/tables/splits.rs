//! Table 1: the sets of games and their sizes.

use cwm_contract::Label;
use cwm_page::{Column, PaperComparison, Row, Table, TableCell, comparison_rows, number};

use crate::papers::chess_world_model::facts::{Metric, PaperFacts};
use crate::papers::chess_world_model::read::counts::{Counts, LabelledCounts, Side, TokenSet};
use crate::papers::chess_world_model::results::Results;
use crate::papers::chess_world_model::test_set::TestSet;

/// Real counts of what was split and tested, beside the paper's; `None` where nothing was.
pub(crate) fn splits(counts: &[LabelledCounts], results: &Results, paper: &PaperFacts) -> Option<Table> {
    let mut groups: Vec<Vec<Row>> = Vec::new();
    for labelled in counts {
        if let Counts::Split { buckets, validation_buckets, train, validation } = &labelled.counts {
            let intended = *validation_buckets as f64 / (*buckets).max(1) as f64;
            groups.extend(split(&labelled.label, train, validation, intended, paper));
        }
    }
    let mut not_run = Vec::new();
    if groups.is_empty() {
        not_run.push(set("Train and validation", None, None, paper, "train_and_validation"));
    }
    for (index, test) in results.tests.iter().enumerate() {
        let scored: Vec<_> =
            results.overall.iter().filter(|((_, at), _)| *at == index).map(|(_, overall)| overall).collect();
        let labels: Vec<&String> = scored.iter().flat_map(|overall| overall.labels()).collect();
        let cells = [
            TableCell::count(scored.iter().map(|overall| overall.games).max().unwrap_or(0))
                .with_sources(labels.iter().copied()),
            TableCell::count(scored.iter().map(|overall| overall.positions).max().unwrap_or(0)).with_sources(labels),
        ];
        groups.push(set(&title(test), Some("this run"), Some(cells), paper, test.name()));
    }
    for test in TestSet::PAPER.iter().filter(|test| results.test(test).is_none()) {
        match counts.iter().find_map(|labelled| Some((labelled, whole_set(labelled, test)?))) {
            Some((labelled, tokens)) => {
                let cells = [tokens.games, tokens.positions]
                    .map(|number| TableCell::count(number).with_sources([&labelled.label]));
                groups.push(set(&title(test), Some(&labelled.label), Some(cells), paper, test.name()));
            }
            None => not_run.push(set(&title(test), None, None, paper, test.name())),
        }
    }
    (!groups.is_empty()).then(|| Table {
        id: "table-01".into(),
        title: "Splits".into(),
        paper: Some("Table 1, Section 2.5"),
        caption: "Games and positions of each set as counted in this run; a position is a prefix of a game, the start \
                  included. Share is that of the games before the split; intended is what the hash of a game's id assigns \
                  on average."
            .into(),
        columns: vec![
            Column::text("Split"),
            Column::text("Source"),
            Column::number("Games"),
            Column::number("Positions"),
            Column::number("Share (%)"),
            Column::number("Intended share (%)"),
        ],
        groups,
        not_run,
        shared_columns: 1,
        ..Table::default()
    })
}

/// The groups of one `split`: all games, those to train on, those for validation.
fn split(label: &String, train: &Side, validation: &Side, intended: f64, paper: &PaperFacts) -> [Vec<Row>; 3] {
    let all = Side { games: train.games + validation.games, plies: train.plies + validation.plies };
    let from = |cell: TableCell| cell.with_sources([label]);
    let group = |title: &str, side: &Side, ours: TableCell, set: &str| {
        let share =
            if all.games > 0 { TableCell::percent(side.games as f64 / all.games as f64) } else { TableCell::none() };
        let columns = [
            PaperComparison::count(from(TableCell::count(side.games)), paper.split(set, &Metric::Games)),
            // A game of n plies has n + 1 positions, START being the first.
            PaperComparison::without_paper(from(TableCell::count(side.plies + side.games))),
            PaperComparison::new(from(share), paper.split(set, &Metric::Share), number::two_decimals).approximate(),
            PaperComparison::without_paper(ours),
        ];
        comparison_rows(&[TableCell::text(title)], Some(label), &columns)
    };
    [
        group("Train and validation", &all, TableCell::none(), "train_and_validation"),
        // In Table 3 the paper calls all games of the corpus so; of these alone it has nothing.
        group("Train", train, from(TableCell::percent(1.0 - intended)), ""),
        group("Validation", validation, from(TableCell::percent(intended)), "validation"),
    ]
}

/// A set that was counted as games and positions, or was not run.
fn set(title: &str, source: Option<&str>, cells: Option<[TableCell; 2]>, paper: &PaperFacts, name: &str) -> Vec<Row> {
    let [games, positions] = cells.unwrap_or_else(|| [TableCell::not_run(), TableCell::not_run()]);
    let columns = [
        PaperComparison::count(games, paper.split(name, &Metric::Games)),
        PaperComparison::without_paper(positions),
        PaperComparison::without_paper(TableCell::none()),
        PaperComparison::without_paper(TableCell::none()),
    ];
    comparison_rows(&[TableCell::text(title)], source, &columns)
}

fn title(test: &TestSet) -> String {
    match test {
        TestSet::HeldOut => "Held-out test".to_owned(),
        TestSet::RandomUniform => "Random-uniform test".to_owned(),
        other => format!("Test: {}", other.phrase()),
    }
}

/// The one set of a `tokenize` that bears the name of `test`: as its label's `test` coordinate, else as its stage.
pub(super) fn whole_set<'a>(labelled: &'a LabelledCounts, test: &TestSet) -> Option<&'a TokenSet> {
    let Counts::Tokenize { sets, .. } = &labelled.counts else {
        return None;
    };
    let label: Label = labelled.label.parse().ok()?;
    let name = label.coordinates.iter().find(|(axis, _)| axis == "test").map_or(&label.stage, |(_, value)| value);
    let mut sets = sets.values();
    let set = sets.next().filter(|_| name == test.name())?;
    sets.next().is_none().then_some(set)
}
