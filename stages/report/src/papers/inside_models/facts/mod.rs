//! The numbers of the paper's text and of its preprint, and settings of its authors' code.
//!
//! Each file has a fact a row: `place`, `row`, `column`, `value` as printed, `unit`, `section`, `source`.

use cwm_page::{Column, Row, RowKind, Table, TableCell, number};

use super::tables::BESIDE_THE_PAPER;

const FACTS: &str = include_str!("facts.csv");
const CODE: &str = include_str!("code.csv");

/// The fields of a line.
type Fact = [&'static str; 7];

/// All of them, in the order of the files.
pub(super) struct Facts {
    facts: Vec<Fact>,
    code: Vec<Fact>,
}

impl Facts {
    /// Reads the facts that are part of this crate. Lines that are no facts are left out; a test counts them.
    pub(super) fn load() -> Self {
        Facts { facts: lines(FACTS), code: lines(CODE) }
    }

    /// The number at this place, row and column.
    pub(super) fn cell(&self, of: [&str; 3]) -> TableCell {
        let found = self.facts.iter().find(|fact| fact[..3] == of);
        found.map_or(TableCell::none(), |[_, _, _, value, ..]| printed(value))
    }

    /// The facts that stand beside no number of ours.
    pub(super) fn words(&self) -> Table {
        let values = BESIDE_THE_PAPER.iter().flat_map(|spec| spec.printed).flat_map(|row| row.values);
        let used: Vec<[&str; 3]> = values.map(|(_, fact)| *fact).collect();
        let rows = self.facts.iter().filter(|fact| used.iter().all(|used| fact[..3] != *used));
        let caption = "Facts of the paper's text that stand beside no number of ours, as printed. A source `code` is the README of the authors' code, and `derived` is computed from the text.";
        list("inside-words", "What the paper says in words", caption, rows)
    }

    /// The settings of the authors' code.
    pub(super) fn settings(&self) -> Table {
        let caption = "Settings of the authors' public code, from which parameters were taken that the paper lacks. They are no results.";
        list("inside-settings", "Settings of the authors' code", caption, self.code.iter())
    }
}

fn lines(file: &'static str) -> Vec<Fact> {
    file.lines().skip(1).filter_map(|line| line.split(',').collect::<Vec<_>>().try_into().ok()).collect()
}

fn printed(value: &str) -> TableCell {
    // A month is no number: `2023-06`.
    value.parse().map_or_else(|_| TableCell::text(value), |number| TableCell::number(number, number::printed(value)))
}

fn list<'a>(id: &str, title: &str, caption: &str, facts: impl Iterator<Item = &'a Fact>) -> Table {
    let row = |[place, row, column, value, unit, section, source]: &Fact| {
        let mut cells: Vec<TableCell> = [place, row, column].map(|text| TableCell::text(*text)).into();
        cells.push(printed(value));
        cells.extend([unit, section, source].map(|text| TableCell::text(*text)));
        vec![Row { kind: RowKind::Paper, cells }]
    };
    let texts = |names: &[&str]| names.iter().map(|name| Column::text(name)).collect::<Vec<_>>();
    let mut columns = texts(&["Place", "Of", "What"]);
    columns.push(Column::number("Value"));
    columns.extend(texts(&["Unit", "Section", "Source"]));
    Table {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: caption.to_owned(),
        columns,
        not_run: facts.map(row).collect(),
        noun: "facts",
        folds: true,
        ..Table::default()
    }
}

#[cfg(test)]
mod tests {
    use cwm_contract::testing::shared;

    use super::*;

    /// The files are those of the folder from which they were taken, and every line is a fact.
    #[test]
    fn the_files_are_the_shared_ones() {
        let facts = Facts::load();
        assert_eq!((facts.facts.len(), facts.code.len()), (FACTS.lines().count() - 1, CODE.lines().count() - 1));
        let Some(folder) = shared("systems/inside-models-paper") else { return };
        for (name, file) in [("facts.csv", FACTS), ("code.csv", CODE)] {
            assert_eq!(std::fs::read_to_string(folder.join(name)).unwrap(), file);
        }
    }

    /// Every fact stands beside ours or in the list, and none in both.
    #[test]
    fn rows_of_the_paper_name_facts_that_there_are() {
        let facts = Facts::load();
        let values: Vec<_> = BESIDE_THE_PAPER.iter().flat_map(|spec| spec.printed).flat_map(|row| row.values).collect();
        values.iter().for_each(|(_, fact)| assert!(!facts.cell(*fact).is_none(), "{fact:?}"));
        assert_eq!(values.len() + facts.words().not_run.len(), facts.facts.len());
        assert_eq!(facts.cell(["Figure 5", "none", "original mean"]).text, "0.9969");
    }
}
