//! Table 3: how many of the move tokens occur.

use crate::number;
use crate::paper::{Metric, Paper};
use crate::read::counts::{Counts, Labelled, TokenSet};
use crate::table::{Cell, Column, Row, Table};
use crate::tables::beside::{self, Beside};
use crate::tables::splits::whole_set;
use crate::test_set::TestSet;

/// Move tokens without START and PAD: 64 squares from, 64 to, 5 promotions (Section 2.3).
const MOVE_TOKENS: u64 = 64 * 64 * 5;

/// The sets of which the paper tells it, with what they are called where there are none of ours.
const PAPERS: [(&str, &str); 2] = [("train", "train and validation"), ("random_uniform", "random-uniform test")];

/// Coverage of each tokenized set, beside the paper's where it has that set; `None` where nothing was tokenized.
pub(crate) fn token_coverage(counts: &[Labelled], paper: &Paper) -> Option<Table> {
    let mut groups = Vec::new();
    let mut beside_ours = Vec::new();
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
            groups.push(rows(&name, Some((&labelled.label, set)), theirs, paper));
            beside_ours.extend(theirs);
        }
    }
    let not_run = PAPERS.iter().filter(|(set, _)| !beside_ours.contains(set));
    (!groups.is_empty()).then(|| Table {
        id: "table-03".into(),
        title: "Move-token coverage".into(),
        paper: Some("Table 3, Appendix A.2"),
        caption: format!(
            "Distinct move tokens that occur in each tokenized set, of {} possible ones. The paper's training set is all \
             of its corpus, the games for validation among them.",
            number::count(MOVE_TOKENS)
        ),
        columns: vec![
            Column::text("Set"),
            Column::text("Source"),
            Column::number("Games"),
            Column::number("Positions"),
            Column::number("Distinct moves"),
            Column::number("Coverage (%)"),
        ],
        groups,
        not_run: not_run.map(|(set, title)| rows(title, None, Some(set), paper)).collect(),
        shared_columns: 1,
        data: None,
    })
}

/// `train and validation`.
fn names<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.map(String::as_str).collect::<Vec<_>>().join(" and ")
}

/// The rows of one set: ours with its label, and what the paper tells of the set that it calls `theirs`.
fn rows(title: &str, ours: Option<(&String, &TokenSet)>, theirs: Option<&str>, paper: &Paper) -> Vec<Row> {
    let count =
        |read: fn(&TokenSet) -> u64| ours.map_or(Cell::not_run(), |(label, set)| Cell::count(read(set)).from([label]));
    let printed = |metric| theirs.and_then(|set| paper.split(set, &metric));
    let coverage = ours.map_or(Cell::not_run(), |(label, set)| {
        Cell::percent(set.unique_moves as f64 / MOVE_TOKENS as f64).from([label])
    });
    let columns = [
        Beside::count(count(|set| set.games), printed(Metric::Games)),
        Beside::only_ours(count(|set| set.positions)),
        Beside::count(count(|set| set.unique_moves), printed(Metric::UniqueMoves)),
        Beside::new(coverage, printed(Metric::Coverage), number::two_decimals),
    ];
    beside::rows(&[Cell::text(title)], ours.map(|(label, _)| label.as_str()), &columns)
}
