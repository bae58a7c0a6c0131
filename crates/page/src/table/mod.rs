//! Any table: what it holds, apart from how a format draws it.
//!
//! People read the table itself (HTML, LaTeX); programs read its fuller `data` where it has some (CSV, JSON), with more
//! digits, and columns named the same in every table.

mod cell;
mod csv;
mod files;
mod html;
mod json;
mod latex;
mod sources;
#[cfg(test)]
mod tests;

pub use cell::{Interval, TableCell};
pub(crate) use sources::sources;

/// The source of rows of the paper where nothing of ours stands above them.
pub const PAPER_ONLY: &str = "paper (not run here)";

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Name of its files, such as `table-08`.
    pub id: String,
    /// The subject, in a few words.
    pub title: String,
    /// The number in the paper, such as `Table 8, Appendix D`.
    pub paper: Option<&'static str>,
    /// The contents, in a sentence or two.
    pub caption: String,
    /// The columns, from left to right.
    pub columns: Vec<Column>,
    /// Rows that belong together, such as a model's own and the paper's; sorting keeps them so.
    pub groups: Vec<Vec<Row>>,
    /// Groups of which only the paper has numbers; set apart from those above.
    pub not_run: Vec<Vec<Row>>,
    /// The plural noun of its groups, such as `models`; empty for `rows`.
    pub noun: &'static str,
    /// The first so many columns are equal in all rows of a group.
    pub shared_columns: usize,
    /// True if the page folds it where it is long, since few readers look at it.
    pub folds: bool,
    /// The contents of the files for programs, where that is more than a reader wants to see.
    pub data: Option<Box<Table>>,
}

impl Table {
    /// Returns the beginning of a caption: its title, after the paper's number where it has one.
    fn numbered_title(&self) -> String {
        numbered(&self.title, self.paper)
    }

    /// Returns true if it has no rows at all.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.not_run.is_empty()
    }

    /// Returns the table that programs read.
    fn data(&self) -> &Table {
        self.data.as_deref().unwrap_or(self)
    }

    /// Names of its columns for programs: each once, whatever hyper-parameters are called.
    fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = Vec::new();
        for column in &self.columns {
            let base = match column.full_key() {
                none if none.is_empty() => "column".to_owned(),
                key => key,
            };
            let mut key = base.clone();
            let mut number = 2;
            while keys.contains(&key) {
                key = format!("{base}_{number}");
                number += 1;
            }
            keys.push(key);
        }
        keys
    }

    /// All groups, the paper's own last, and whether they were run here.
    fn all_groups(&self) -> impl Iterator<Item = (&Vec<Row>, bool)> {
        self.groups.iter().map(|group| (group, true)).chain(self.not_run.iter().map(|group| (group, false)))
    }
}

/// A title with the number before it that the paper gives to this table or figure: `Table 8 — Test results`.
pub(crate) fn numbered(title: &str, paper: Option<&str>) -> String {
    let number = paper.and_then(|place| place.split(',').next());
    match number.filter(|number| number.starts_with("Table ") || number.starts_with("Figure ")) {
        Some(number) => format!("{number} — {title}"),
        None => title.to_owned(),
    }
}

/// A column.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// Heading over neighbouring columns with the same one; empty for none.
    pub over: String,
    /// The name of that heading for programs.
    over_key: String,
    /// Its heading.
    pub name: String,
    /// Its name for programs, without that of `over`; the same for the same thing in every table.
    key: String,
    /// The alignment of its cells.
    pub align: Align,
    /// True if it names the row.
    names_rows: bool,
}

/// The alignment of a column's cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    #[default]
    /// Words.
    Left,
    /// Numbers.
    Right,
}

impl Column {
    /// A column of words.
    pub fn text(name: &str) -> Self {
        Column { name: name.to_owned(), key: key(name), ..Column::default() }
    }

    /// A column of numbers.
    pub fn number(name: &str) -> Self {
        Column { align: Align::Right, ..Column::text(name) }
    }

    /// Makes the column identify the row: it stays in view on the page, and where a table is cut, each part has
    /// it.
    pub fn naming_rows(self) -> Self {
        Column { names_rows: true, ..self }
    }

    /// Places the column below the heading `over`.
    pub fn under(self, over: impl Into<String>) -> Self {
        let over = over.into();
        Column { over_key: key(&over), over, ..self }
    }

    /// Names the heading over the column `key` for programs.
    pub fn with_over_key(self, key: &str) -> Self {
        Column { over_key: key.to_owned(), ..self }
    }

    /// Names the column `key` for programs.
    pub fn with_key(self, key: &str) -> Self {
        Column { key: key.to_owned(), ..self }
    }

    /// Its name for programs: `held_out_games_exact_percent`.
    fn full_key(&self) -> String {
        if self.over.is_empty() { self.key.clone() } else { format!("{}_{}", self.over_key, self.key) }
    }
}

/// A heading as a name for programs: `Labelwise (%)` is `labelwise_percent`.
fn key(heading: &str) -> String {
    let mut key = String::new();
    for word in heading.replace('%', " percent ").split(|at: char| !at.is_alphanumeric()) {
        if !word.is_empty() {
            key.push_str(if key.is_empty() { "" } else { "_" });
            key.push_str(&word.to_lowercase());
        }
    }
    key
}

/// The source of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowKind {
    /// Measured here.
    #[default]
    Ours,
    /// Printed in the paper.
    Paper,
    /// Ours less the paper's.
    Difference,
}

impl RowKind {
    /// Returns the name for programs and style sheets.
    fn name(self) -> &'static str {
        match self {
            RowKind::Ours => "ours",
            RowKind::Paper => "paper",
            RowKind::Difference => "difference",
        }
    }
}

/// A row.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// The source of its numbers.
    pub kind: RowKind,
    /// A cell for each column.
    pub cells: Vec<TableCell>,
}

impl Row {
    /// A row of what was measured here.
    pub fn ours(cells: Vec<TableCell>) -> Self {
        Row { kind: RowKind::Ours, cells }
    }
}
