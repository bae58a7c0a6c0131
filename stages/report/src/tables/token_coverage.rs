//! Table 3: how many of the move tokens occur.

use crate::number;
use crate::paper::{Metric, Paper};
use crate::read::counts::{Counts, Labelled};
use crate::table::{Cell, Column, Row, RowKind, Table};

/// Move tokens without START and PAD: 64 squares from, 64 to, 5 promotions (Section 2.3).
const MOVE_TOKENS: u64 = 64 * 64 * 5;

/// Coverage of each tokenized set, then the paper's; `None` where nothing was tokenized.
pub(crate) fn token_coverage(counts: &[Labelled], paper: &Paper) -> Option<Table> {
    let mut groups = Vec::new();
    for labelled in counts {
        if let Counts::Tokenize { sets, all } = &labelled.counts {
            // Of a single set there is nothing to be put together.
            let all = all.iter().filter(|_| sets.len() > 1).map(|all| (names(sets.keys()), all));
            for (name, set) in all.chain(sets.iter().map(|(name, set)| (name.clone(), set))) {
                let title = format!("{} ({name})", labelled.label);
                groups.push(vec![row(RowKind::Ours, &title, Some(set.games), Some(set.positions), set.unique_moves)]);
            }
        }
    }
    if groups.is_empty() {
        return None;
    }
    for (title, set) in [("Paper: train", "train"), ("Paper: random-uniform test", "random_uniform")] {
        let number = |metric| paper.split(set, &metric).map(|printed| printed.value as u64);
        if let Some(unique) = number(Metric::UniqueMoves) {
            groups.push(vec![row(RowKind::Paper, title, number(Metric::Games), None, unique)]);
        }
    }
    Some(Table {
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
            Column::number("Games"),
            Column::number("Positions"),
            Column::number("Distinct moves"),
            Column::number("Coverage (%)"),
        ],
        groups,
        not_run: Vec::new(),
        shared_columns: 0,
        data: None,
    })
}

/// `train and validation`.
fn names<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.map(String::as_str).collect::<Vec<_>>().join(" and ")
}

fn row(kind: RowKind, title: &str, games: Option<u64>, positions: Option<u64>, unique: u64) -> Row {
    let count = |number: Option<u64>| number.map_or(Cell::none(), Cell::count);
    let coverage = Cell::percent(unique as f64 / MOVE_TOKENS as f64);
    Row { kind, cells: vec![Cell::text(title), count(games), count(positions), Cell::count(unique), coverage] }
}
