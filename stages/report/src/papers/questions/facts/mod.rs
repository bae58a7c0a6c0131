//! The numbers and words of the paper's text, and the parameters of its construction.
//!
//! `facts.csv` has a number a row as printed, `tables.csv` a cell of Tables 1, 2 and 3 a row, `parameters.csv` a parameter a row.

use cwm_page::{Column, PrintedValue, Row, RowKind, Table, TableCell, number};

use crate::papers::fact_fields::{fields, is_named};

const FACTS: &str = include_str!("facts.csv");
const TABLES: &str = include_str!("tables.csv");
const PARAMETERS: &str = include_str!("parameters.csv");

/// SHA-256 of the lines of each category of the published items.
pub(crate) const PUBLISHED: [(&str, &str); 5] = [
    ("Structural", "b7cbe3b07f37595d52d9094f592520d4de270d6d974885eb2a5d3526209213a9"),
    ("Motifs", "22d70b7f6a5b63b3e1f8494a1e5588e63859660c71b436690260000940e04815"),
    ("Short Tactics", "fdcbad931a81e1edffaa8ca6814d4da0494dec3b397fea6d06487bad6e3161d7"),
    ("Position Judgement", "06dde0bdc4e8fee4fa9cd031850abaef40bfaa15089b3042fe2bd1c9b0adacb4"),
    ("Semantic", "7ff961595c0e6b65bd47201ceaba953fd917ad779f83e024de586faa57e5e305"),
];

/// The column of a run's number over all items; other columns have the name of a category.
pub(super) const OVERALL: &str = "overall";

/// The column of mean numbers of tokens; for one category, the category's name follows.
pub(super) const TOKENS: &str = "tokens_per_item";

/// The column of correct answers a dollar.
pub(super) const PER_DOLLAR: &str = "points_per_dollar";

/// The columns of Table 4: the base, with the other example, with the pieces.
pub(super) const VARIANTS: [&str; 3] = ["Base", "DeltaExample", "+PieceArr"];

/// The row and column of what reasoning gains.
pub(super) const GAIN: [&str; 2] = ["mean of pairs", "gain_of_reasoning"];

/// Rows of the run's columns that are no single run.
const NO_RUNS: [&str; 5] = ["mean of runs", "runs over 50 percent", "random guess", "lowest run", "highest run"];

/// A number.
struct Fact {
    place: &'static str,
    /// Categories have the spelling of the published items, here and in `column`.
    row: String,
    column: String,
    unit: &'static str,
    /// A number, or words where it is none.
    printed: PrintedValue,
}

/// All of them, in the order of the files.
pub(super) struct Facts(Vec<Fact>);

impl Facts {
    /// Reads the facts that are part of this crate. Lines that are no facts are left out; a test counts them.
    pub(super) fn load() -> Self {
        let fact = |line: &'static str| {
            let [table, place, row, column, value, unit] = fields(line).try_into().ok()?;
            // `32K` is no number.
            let number = value.replace(',', "").parse().unwrap_or(f64::NAN);
            let printed = PrintedValue { table: table.to_owned(), text: value.to_owned(), value: number };
            let [row, column] = [row, column].map(|name| name.replace("Judgment", "Judgement"));
            Some(Fact { place, row, column, unit, printed })
        };
        Facts(FACTS.lines().skip(1).filter_map(fact).collect())
    }

    /// The number of a row and column; names of runs are compared by [`is_named`].
    pub(super) fn get(&self, row: &str, column: &str) -> Option<&PrintedValue> {
        let is = |fact: &&Fact| fact.column == column && is_named(&fact.row, row);
        self.0.iter().find(is).map(|fact| &fact.printed)
    }

    /// The runs that have a number in one of these columns, in the paper's order.
    pub(super) fn runs(&self, columns: &[&str]) -> Vec<&str> {
        let mut runs: Vec<&str> = Vec::new();
        for fact in self.0.iter().filter(|fact| columns.contains(&fact.column.as_str()) && is_run(&fact.row)) {
            if runs.iter().all(|run| !is_named(run, &fact.row)) {
                runs.push(&fact.row);
            }
        }
        runs
    }

    /// The numbers that stand beside none of ours.
    pub(super) fn words(&self) -> Table {
        let row = |fact: &Fact| {
            let mut cells = [&fact.printed.table, fact.place, &fact.row, &fact.column].map(TableCell::text).to_vec();
            cells.push(cell(&fact.printed));
            cells.push(TableCell::text(fact.unit));
            cells
        };
        let columns = ["Table", "Place", "Of", "What"].map(Column::text);
        let mut columns = columns.to_vec();
        columns.extend([Column::number("Value"), Column::text("Unit")]);
        let caption = "Numbers of the paper's text that stand beside none of ours, as printed.";
        let rows = self.0.iter().filter(|fact| !fact.is_compared()).map(row);
        list("words", "What the paper says in words", None, caption, columns, rows.collect())
    }
}

impl Fact {
    /// Returns true if a table of runs, of variants, of reasoning or of items has it.
    fn is_compared(&self) -> bool {
        let is_category = PUBLISHED.iter().any(|(category, _)| self.column == *category);
        let of_runs = [OVERALL, PER_DOLLAR].contains(&self.column.as_str()) || is_category;
        let table = self.printed.table.as_str();
        let of_runs = of_runs || self.column.starts_with(TOKENS);
        (of_runs && is_run(&self.row)) || ["figure 2", "table 4"].contains(&table) || self.column == GAIN[1]
    }
}

fn cell(PrintedValue { text, value, .. }: &PrintedValue) -> TableCell {
    if value.is_finite() { TableCell::number(*value, number::printed(text)) } else { TableCell::text(text) }
}

/// One of the paper's tables of words.
pub(super) fn words_of_table(number: &str, id: &str, title: &str, paper: &'static str) -> Table {
    let cells: Vec<[&str; 5]> = TABLES
        .lines()
        .skip(1)
        .filter_map(|line| fields(line).try_into().ok())
        .filter(|cell: &[&str; 5]| cell[0] == number)
        .collect();
    let distinct = |at: usize| {
        let mut names: Vec<&str> = Vec::new();
        cells.iter().for_each(|cell| names.extend((!names.contains(&cell[at])).then_some(cell[at])));
        names
    };
    let (rows, names) = (distinct(2), distinct(3));
    let text = |row: &str, name: &str| {
        let found = cells.iter().find(|cell| cell[2] == row && cell[3] == name);
        found.map_or(TableCell::none(), |cell| TableCell::text(cell[4]))
    };
    let row = |row: &&str| {
        std::iter::once(TableCell::text(*row)).chain(names.iter().map(|name| text(row, name))).collect::<Vec<_>>()
    };
    let heading = |name: &&str| Column::text(&name.replace('_', " "));
    let columns = std::iter::once(Column::text("Of").naming_rows()).chain(names.iter().map(heading)).collect();
    let caption = "As the paper has it, in short.";
    list(id, title, Some(paper), caption, columns, rows.iter().map(row).collect())
}

/// The parameters of the construction.
pub(super) fn parameters() -> Table {
    let lines = PARAMETERS.lines().skip(1).map(|line| fields(line).into_iter().map(TableCell::text).collect());
    let columns = ["Of", "Parameter", "Paper", "Release", "Place"].map(Column::text).to_vec();
    let caption = "Parameters of the benchmark by the paper and by the program of its release, which made the published items. They are no results.";
    list("parameters", "Parameters of the benchmark", None, caption, columns, lines.collect())
}

fn list(
    id: &str,
    title: &str,
    paper: Option<&'static str>,
    caption: &str,
    columns: Vec<Column>,
    rows: Vec<Vec<TableCell>>,
) -> Table {
    Table {
        id: super::id(id),
        title: title.to_owned(),
        paper,
        caption: caption.to_owned(),
        columns,
        not_run: rows.into_iter().map(|cells| vec![Row { kind: RowKind::Paper, cells }]).collect(),
        folds: true,
        ..Table::default()
    }
}

fn is_run(row: &str) -> bool {
    !NO_RUNS.contains(&row)
}

#[cfg(test)]
mod tests {
    use cwm_contract::testing::shared;

    use super::*;

    /// The files are those of the folder from which they were taken, and every line is a fact.
    #[test]
    fn the_files_are_the_shared_ones() {
        assert_eq!(Facts::load().0.len(), FACTS.lines().count() - 1);
        assert!(TABLES.lines().all(|line| fields(line).len() == 5));
        assert!(PARAMETERS.lines().all(|line| fields(line).len() == 5));
        let Some(folder) = shared("systems/questions-paper") else { return };
        for (name, file) in [("facts.csv", FACTS), ("tables.csv", TABLES), ("parameters.csv", PARAMETERS)] {
            assert_eq!(std::fs::read_to_string(folder.join(name)).unwrap(), file);
        }
    }

    #[test]
    fn numbers_are_found_by_run_and_column() {
        let facts = Facts::load();
        let value = |row, column| facts.get(row, column).map(|printed| (printed.text.as_str(), printed.value));
        assert_eq!(value("GPT-5", TOKENS), Some(("1,236.31", 1236.31)));
        assert_eq!(value("gemini 2.5 pro*", OVERALL), Some(("43", 43.0)));
        assert_eq!(value("GPT-5*", "Position Judgement"), Some(("40", 40.0)));
        assert_eq!(value("GPT-5", "Position Judgement"), None);
        assert_eq!(facts.runs(&[TOKENS]), ["GPT-5*", "GPT-5"]);
        assert_eq!(facts.runs(&[OVERALL]).len(), 10);
    }
}
