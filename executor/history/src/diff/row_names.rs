//! Names of rows and columns, by which each is compared with itself at whatever position.
//!
//! A row's name is the texts of the shared columns, then those of every further column with text alone (a fate, a
//! test set, the label of a training). Text about a row that does not identify it stays out.

use std::collections::{BTreeSet, HashMap};

use super::table_file::{TableColumn, TableFile, TableRow};

/// The column with remarks about a row.
const NOTE: &str = "Note";

/// The column with the source of a row's numbers: of one run which, otherwise how many.
const SOURCE: &str = "Source";

/// The texts of empty cells.
const EMPTY_TEXTS: [&str; 3] = ["", "–", "not run"];

/// Names of rows or columns, each with its position.
pub(super) type Names = Vec<(String, usize)>;

/// Names of the columns.
pub(super) fn columns(table: &TableFile) -> Names {
    let head = |TableColumn { over, name }: &TableColumn| {
        if over.is_empty() { name.clone() } else { format!("{over}: {name}") }
    };
    numbered(table.columns.iter().map(head).enumerate())
}

/// Names of the rows of both tables that are compared. Rows of one name are distinguished by their
/// source, and those of one source are taken in their order.
pub(super) fn rows(old: &TableFile, new: &TableFile) -> (Names, Names) {
    let (in_old, in_new): (Vec<usize>, Vec<usize>) = text_columns(old, new).into_iter().unzip();
    let (olds, news) = (row_names(old, &in_old), row_names(new, &in_new));
    let mut repeated = BTreeSet::new();
    for names in [&olds, &news] {
        let mut seen = BTreeSet::new();
        repeated.extend(names.iter().map(|row| &row.name).filter(|name| !seen.insert(*name)));
    }
    let named = |rows: &[RowName]| {
        let name = |row: &RowName| if repeated.contains(&row.name) { &row.with_source } else { &row.name }.clone();
        numbered(rows.iter().map(|row| (row.at, name(row))))
    };
    (named(&olds), named(&news))
}

/// The name of a row.
struct RowName {
    at: usize,
    name: String,
    /// The name for a row whose `name` another row has, too.
    with_source: String,
}

fn row_names(table: &TableFile, text_columns: &[usize]) -> Vec<RowName> {
    let source = table.columns.iter().position(|column| column.name == SOURCE);
    let further: Vec<usize> = text_columns.iter().copied().filter(|at| *at >= table.shared_columns).collect();
    let compared = table.rows.iter().enumerate().filter(|(_, row)| row.kind != "difference");
    compared
        .map(|(at, row)| {
            let source = source.and_then(|column| text(row, column));
            let shared = 0..table.shared_columns.min(row.cells.len());
            let naming = shared.chain(further.iter().copied());
            let mut words: Vec<&str> = naming.filter_map(|column| text(row, column)).collect();
            // A row of one run is named by its source as well.
            words.extend(source.filter(|source| source.starts_with("seed ") || source.starts_with("a run")));
            let kind = if row.kind == "ours" { String::new() } else { format!(" ({})", row.kind) };
            let name = words.join(", ") + &kind;
            words.extend(source.filter(|source| !words.contains(source)));
            RowName { at, name, with_source: words.join(", ") + &kind }
        })
        .collect()
}

fn text(row: &TableRow, column: usize) -> Option<&str> {
    let text = row.cells[column].text.as_str();
    (!EMPTY_TEXTS.contains(&text)).then_some(text)
}

/// The columns that both have, with text alone in both, by their places in each.
fn text_columns(old: &TableFile, new: &TableFile) -> Vec<(usize, usize)> {
    let olds: HashMap<String, usize> = columns(old).into_iter().collect();
    let both = columns(new).into_iter().filter_map(|(name, at)| Some((*olds.get(&name)?, at)));
    both.filter(|(before, now)| is_text_column(old, *before) && is_text_column(new, *now)).collect()
}

fn is_text_column(table: &TableFile, column: usize) -> bool {
    let name = table.columns[column].name.as_str();
    name != NOTE && name != SOURCE && table.rows.iter().all(|row| row.cells[column].value.is_none())
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
