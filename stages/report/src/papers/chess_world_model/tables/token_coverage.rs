//! Table 3: the number of move tokens that occur.

use cwm_contract::Label;
use cwm_page::{Column, PaperComparison, Row, Table, TableCell, comparison_rows, number};

use crate::papers::chess_world_model::facts::{Metric, PaperFacts};
use crate::papers::chess_world_model::read::counts::{Counts, LabelledCounts, TokenSet};
use crate::papers::chess_world_model::tables::splits::whole_set;
use crate::papers::chess_world_model::test_set::TestSet;

/// Move tokens without START and PAD: 64 squares from, 64 to, 5 promotions (Section 2.3).
const MOVE_TOKENS: u64 = 64 * 64 * 5;

/// The sets of the paper's table, with their names where there are none of ours.
const PAPERS: [(&str, &str); 2] = [("train", "train and validation"), ("random_uniform", "random-uniform test")];

/// Coverage of each tokenized set, beside the paper's where it has that set; `None` where nothing was tokenized.
pub(crate) fn token_coverage(counts: &[LabelledCounts], paper: &PaperFacts) -> Option<Table> {
    let mut groups = Vec::new();
    let mut sets_run_here = Vec::new();
    let [trained, random_uniform] = compared(counts);
    for labelled in counts {
        let Counts::Tokenize { sets, all } = &labelled.counts else { continue };
        let random = whole_set(labelled, &TestSet::RandomUniform).map(|_| "random_uniform");
        // The paper's training set is its whole corpus, so it stands beside all sets together where there are several.
        let together = all.as_ref().filter(|_| sets.len() > 1);
        let corpus = sets.contains_key("train").then_some("train");
        let all = together.map(|all| (names(sets.keys()), all, corpus));
        let each = sets.iter().map(|(name, set)| {
            (name.clone(), set, random.or(corpus.filter(|_| together.is_none() && name == "train")))
        });
        for (name, set, theirs) in all.into_iter().chain(each) {
            // Of games to train on those that the random test does not have; of all others those that there are none
            // of to train on.
            let several = TokenSet { moves: united(sets.values()), ..set.clone() };
            let which = if set.moves.is_empty() { &several } else { set };
            let others = if corpus.is_some() { &random_uniform } else { &trained };
            let name = if name == "dataset" { own_name(labelled) } else { name };
            let only = which.moves_not_in(others.iter().copied());
            groups.push(rows(&name, Some((&labelled.label, set, only)), theirs, paper));
            sets_run_here.extend(theirs);
        }
    }
    let not_run = PAPERS.iter().filter(|(set, _)| !sets_run_here.contains(set));
    (!groups.is_empty()).then(|| Table {
        id: "table-03".into(),
        title: "Move-token coverage".into(),
        paper: Some("Table 3, Appendix A.2"),
        caption: format!(
            "Distinct move tokens that occur in each set of games, of {} possible ones. The paper's training set is all \
             of its corpus, the games for validation among them. Only here: of that corpus, moves that the random-uniform \
             test lacks; of a test set, moves that the corpus lacks (in the paper: the text below the table).",
            number::count(MOVE_TOKENS)
        ),
        columns: vec![
            Column::text("Set"),
            Column::text("Source"),
            Column::number("Games"),
            Column::number("Positions"),
            Column::number("Distinct moves"),
            Column::number("Coverage (%)"),
            Column::number("Only here"),
        ],
        groups,
        not_run: not_run.map(|(set, title)| rows(title, None, Some(set), paper)).collect(),
        shared_columns: 1,
        ..Table::default()
    })
}

/// The sets whose moves are compared: those of the one corpus to train on, and the random-uniform test; none where
/// there are several of them.
fn compared(counts: &[LabelledCounts]) -> [Vec<&TokenSet>; 2] {
    let sets = |belongs: &dyn Fn(&LabelledCounts) -> bool| -> Vec<&TokenSet> {
        let mut found = counts.iter().filter(|labelled| belongs(labelled));
        match (found.next().map(|labelled| &labelled.counts), found.next()) {
            (Some(Counts::Tokenize { sets, .. }), None) => sets.values().collect(),
            _ => Vec::new(),
        }
    };
    let trained = |labelled: &LabelledCounts| matches!(&labelled.counts, Counts::Tokenize { sets, .. } if sets.contains_key("train"));
    [sets(&trained), sets(&|labelled| whole_set(labelled, &TestSet::RandomUniform).is_some())]
}

/// The moves of all of them, where all have their moves.
fn united<'a>(sets: impl Iterator<Item = &'a TokenSet> + Clone) -> Vec<u8> {
    let longest = sets.clone().map(|set| set.moves.len()).max().unwrap_or(0);
    if sets.clone().any(|set| set.moves.len() != longest) {
        return Vec::new();
    }
    let mut all = vec![0; longest];
    for set in sets {
        all.iter_mut().zip(&set.moves).for_each(|(byte, other)| *byte |= other);
    }
    all
}

/// Returns the name of a set that is alone: the test set of its label, else its stage.
fn own_name(labelled: &LabelledCounts) -> String {
    let label = labelled.label.parse().unwrap_or_else(|_| Label::stage(labelled.label.as_str()));
    label.coordinate("test").unwrap_or(&label.stage).to_owned()
}

/// `train and validation`.
fn names<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.map(String::as_str).collect::<Vec<_>>().join(" and ")
}

/// The rows of one set: ours with its label, and the paper's values of the set that it calls `theirs`.
fn rows(
    title: &str,
    ours: Option<(&String, &TokenSet, Option<u64>)>,
    theirs: Option<&str>,
    paper: &PaperFacts,
) -> Vec<Row> {
    let count = |read: fn(&TokenSet) -> u64| {
        ours.map_or(TableCell::not_run(), |(label, set, _)| TableCell::count(read(set)).with_sources([label]))
    };
    let printed = |metric| theirs.and_then(|set| paper.split(set, &metric));
    let coverage = ours.map_or(TableCell::not_run(), |(label, set, _)| {
        TableCell::percent(set.unique_moves as f64 / MOVE_TOKENS as f64).with_sources([label])
    });
    let only = ours.map_or(TableCell::not_run(), |(label, _, only)| {
        only.map_or(TableCell::none(), |only| TableCell::count(only).with_sources([label]))
    });
    let columns = [
        PaperComparison::count(count(|set| set.games), printed(Metric::Games)),
        PaperComparison::without_paper(count(|set| set.positions)),
        PaperComparison::count(count(|set| set.unique_moves), printed(Metric::UniqueMoves)),
        PaperComparison::new(coverage, printed(Metric::Coverage), number::two_decimals),
        PaperComparison::count(only, printed(Metric::OnlyMoves)),
    ];
    comparison_rows(&[TableCell::text(title)], ours.map(|(label, ..)| label.as_str()), &columns)
}
