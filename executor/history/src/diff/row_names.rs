//! Names of rows and columns, by which each is compared with itself at whatever position.
//!
//! A row's name is the texts of the shared columns, then those of every further column that holds words alone (a fate, a
//! test set, the label of a training). Text about a row that does not identify it stays out.

use std::collections::{BTreeSet, HashMap};

use super::table_file::{Column, Row, TableFile};

/// The column with remarks about a row.
const NOTE: &str = "Note";

/// The column with the source of a row's numbers: of one run which, otherwise how many.
const SOURCE: &str = "Source";

/// The texts of empty cells.
const NOTHING: [&str; 3] = ["", "–", "not run"];

/// Names of rows or columns, each with its position.
pub(super) type Names = Vec<(String, usize)>;

/// Names of the columns.
pub(super) fn columns(table: &TableFile) -> Names {
    numbered(table.columns.iter().map(Column::full_name).enumerate())
}

/// Names of the rows of both tables that are compared. Rows of one name are distinguished by their
/// source, and those of one source are taken in their order.
pub(super) fn rows(old: &TableFile, new: &TableFile) -> (Names, Names) {
    let (in_old, in_new): (Vec<usize>, Vec<usize>) = of_words(old, new).into_iter().unzip();
    let (olds, news) = (words(old, &in_old), words(new, &in_new));
    let mut alike = repeated(&olds);
    alike.extend(repeated(&news));
    let named = |rows: &[Words<'_>]| {
        let name = |row: &Words<'_>| {
            let name = row.name(false);
            (row.at, if alike.contains(&name) { row.name(true) } else { name })
        };
        numbered(rows.iter().map(name))
    };
    (named(&olds), named(&news))
}

/// The parts of a row's name.
struct Words<'t> {
    at: usize,
    kind: &'t str,
    words: Vec<&'t str>,
    source: Option<&'t str>,
}

impl Words<'_> {
    fn name(&self, with_source: bool) -> String {
        let source = self.source.filter(|source| with_source && !self.words.contains(source));
        let words: Vec<&str> = self.words.iter().copied().chain(source).collect();
        let kind = if self.kind == "ours" { String::new() } else { format!(" ({})", self.kind) };
        format!("{}{kind}", words.join(", "))
    }
}

fn words<'t>(table: &'t TableFile, of_words: &[usize]) -> Vec<Words<'t>> {
    let source = table.columns.iter().position(|column| column.name == SOURCE);
    let further: Vec<usize> = of_words.iter().copied().filter(|at| *at >= table.shared_columns).collect();
    let compared = table.rows.iter().enumerate().filter(|(_, row)| row.kind != "difference");
    compared
        .map(|(at, row)| {
            let source = source.and_then(|column| text(row, column));
            let shared = 0..table.shared_columns.min(row.cells.len());
            let naming = shared.chain(further.iter().copied());
            let mut words: Vec<&str> = naming.filter_map(|column| text(row, column)).collect();
            words.extend(source.filter(|source| is_one_run(source)));
            Words { at, kind: &row.kind, words, source }
        })
        .collect()
}

fn text(row: &Row, column: usize) -> Option<&str> {
    let text = row.cells[column].text.as_str();
    (!NOTHING.contains(&text)).then_some(text)
}

fn is_one_run(source: &str) -> bool {
    source.starts_with("seed ") || source.starts_with("a run")
}

/// The columns that both have and that hold words alone in both, by their places in each.
fn of_words(old: &TableFile, new: &TableFile) -> Vec<(usize, usize)> {
    let olds: HashMap<String, usize> = columns(old).into_iter().collect();
    let both = columns(new).into_iter().filter_map(|(name, at)| Some((*olds.get(&name)?, at)));
    both.filter(|(before, now)| holds_words(old, *before) && holds_words(new, *now)).collect()
}

fn holds_words(table: &TableFile, column: usize) -> bool {
    let name = table.columns[column].name.as_str();
    name != NOTE && name != SOURCE && table.rows.iter().all(|row| row.cells[column].value.is_none())
}

/// The names that several rows have.
fn repeated(rows: &[Words<'_>]) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    rows.iter().map(|row| row.name(false)).filter(|name| !seen.insert(name.clone())).collect()
}

/// The second of a name gets a number.
fn numbered(names: impl Iterator<Item = (usize, String)>) -> Names {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let number = |(position, name): (usize, String)| {
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        (if *count > 1 { format!("{name} #{count}") } else { name }, position)
    };
    names.map(number).collect()
}
