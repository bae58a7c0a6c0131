//! Any table: what it holds, apart from how a format draws it.
//!
//! What people read (HTML, Markdown, LaTeX) is the table itself; what programs read (CSV, JSON, Parquet) is its fuller
//! `data` where it has some, with more digits, and columns named the same in every table.

mod cell;
mod csv;
mod files;
mod html;
mod json;
mod latex;
mod markdown;
mod parquet;
mod sources;
#[cfg(test)]
mod tests;

pub(crate) use cell::{Cell, Interval};
pub(crate) use sources::sources;

/// What the rows of the paper say in place of a source where nothing of ours stands above them.
pub(crate) const PAPER_ONLY: &str = "paper (not run here)";

/// A table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// Name of its files, such as `table-08`.
    pub(crate) id: String,
    /// What it is, in a few words.
    pub(crate) title: String,
    /// Where the paper has it, such as `Table 8, Appendix D`.
    pub(crate) paper: Option<&'static str>,
    /// What stands in it, in a sentence or two.
    pub(crate) caption: String,
    pub(crate) columns: Vec<Column>,
    /// Rows that belong together, such as a model's own and the paper's; sorting keeps them so.
    pub(crate) groups: Vec<Vec<Row>>,
    /// Groups of which only the paper has numbers; set apart from those above.
    pub(crate) not_run: Vec<Vec<Row>>,
    /// The first so many columns say the same in all rows of a group.
    pub(crate) shared_columns: usize,
    /// Whether the page folds it where it is long: what only a few readers look at.
    pub(crate) folds: bool,
    /// What the files for programs hold instead, where that is more than a reader wants to see.
    pub(crate) data: Option<Box<Table>>,
}

impl Table {
    /// What a caption begins with: its title, the paper's number before it where it has one.
    fn numbered_title(&self) -> String {
        numbered(&self.title, self.paper)
    }

    /// Whether it has no rows at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.not_run.is_empty()
    }

    /// What programs read of it.
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
pub(crate) struct Column {
    /// Heading over neighbouring columns with the same one; empty for none.
    pub(crate) over: String,
    pub(crate) name: String,
    /// Its name for programs, without that of `over`; the same for the same thing in every table.
    key: String,
    pub(crate) align: Align,
    /// Whether it says which row this is, though it is a number.
    names_rows: bool,
}

/// Where a column's cells stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Align {
    #[default]
    Left,
    Right,
}

impl Column {
    /// A column of words.
    pub(crate) fn text(name: &str) -> Self {
        Column { name: name.to_owned(), key: key(name), ..Column::default() }
    }

    /// A column of numbers.
    pub(crate) fn number(name: &str) -> Self {
        Column { align: Align::Right, ..Column::text(name) }
    }

    /// The same column, which says which row this is: where a table is cut, each part has it.
    pub(crate) fn naming_rows(self) -> Self {
        Column { names_rows: true, ..self }
    }

    /// The same column below the heading `over`.
    pub(crate) fn under(self, over: impl Into<String>) -> Self {
        Column { over: over.into(), ..self }
    }

    /// The same column, called `key` by programs.
    pub(crate) fn called(self, key: &str) -> Self {
        Column { key: key.to_owned(), ..self }
    }

    /// Both headings in one.
    fn full_name(&self) -> String {
        if self.over.is_empty() { self.name.clone() } else { format!("{}: {}", self.over, self.name) }
    }

    /// Its name for programs: `held_out_games_exact_percent`.
    fn full_key(&self) -> String {
        if self.over.is_empty() { self.key.clone() } else { format!("{}_{}", key(&self.over), self.key) }
    }
}

/// A heading as a name for programs: `ExactState (%)` is `exact_percent`, as the bins call it.
fn key(heading: &str) -> String {
    let mut key = String::new();
    for word in heading.replace('%', " percent ").replace("ExactState", "exact").split(|at: char| !at.is_alphanumeric())
    {
        if !word.is_empty() {
            key.push_str(if key.is_empty() { "" } else { "_" });
            key.push_str(&word.to_lowercase());
        }
    }
    key
}

/// What a row holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// What was measured here.
    #[default]
    Ours,
    /// What the paper printed.
    Paper,
    /// Ours less the paper's.
    Difference,
}

impl RowKind {
    /// For programs and style sheets.
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
pub(crate) struct Row {
    pub(crate) kind: RowKind,
    pub(crate) cells: Vec<Cell>,
}

impl Row {
    /// A row of what was measured here.
    pub(crate) fn ours(cells: Vec<Cell>) -> Self {
        Row { kind: RowKind::Ours, cells }
    }
}
