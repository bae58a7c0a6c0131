//! Two reports, table by table and cell by cell.
//!
//! Rows and columns are known by their names (`row_names.rs`), so one that was added moves no other. Rows of kind
//! `difference` follow from two others and are left out.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use super::row_names::{Names, columns, rows};
use super::table_file::{TableCell, TableFile, json_number};

/// The differences of two reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReportDifference {
    /// Tables that differ, or that one report alone has.
    pub tables: Vec<TableDifference>,
    /// Tables that both have.
    pub compared: usize,
    /// Cells that both have, in all tables.
    pub cells: usize,
}

impl ReportDifference {
    /// Returns true if there is no difference.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }
}

/// The one of two reports that has something alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportSide {
    Old,
    New,
}

/// The differences of two tables of one name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TableDifference {
    /// Name of its files.
    pub id: String,
    pub title: String,
    /// The report that has it alone, if one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<ReportSide>,
    /// Columns that only the new one has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns_added: Vec<String>,
    /// Columns that only the old one has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns_removed: Vec<String>,
    /// Rows that only the new one has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows_added: Vec<String>,
    /// Rows that only the old one has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows_removed: Vec<String>,
    /// Cells that differ, in the new one's order.
    pub cells: Vec<TableCellDifference>,
    /// Cells that both have.
    pub compared: usize,
}

/// The difference of two cells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableCellDifference {
    pub row: String,
    /// The column's headings.
    pub column: String,
    /// The cell before.
    pub old: TableCell,
    /// The cell now.
    pub new: TableCell,
    /// New less old, where both are numbers; text for what JSON does not have.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "json_number::serialize")]
    pub difference: Option<f64>,
    /// The parts that differ: `text`, `value`, `deviation`, `low`, `high`.
    pub what: Vec<&'static str>,
}

/// Compares all tables. Numbers are equal if they differ by at most `tolerance`, times the greater of the two where that
/// is over 1; how they are printed counts only where `tolerance` is 0.
pub fn compare(old: &[TableFile], new: &[TableFile], tolerance: f64) -> ReportDifference {
    let (olds, news) = (by_id(old), by_id(new));
    let mut found = ReportDifference::default();
    for (id, table) in olds.iter().chain(&news).collect::<BTreeMap<_, _>>() {
        let difference = match (olds.get(id), news.get(id)) {
            (Some(old), Some(new)) => {
                found.compared += 1;
                compare_tables(old, new, tolerance)
            }
            (Some(_), None) => TableDifference { only: Some(ReportSide::Old), ..TableDifference::of(table) },
            _ => TableDifference { only: Some(ReportSide::New), ..TableDifference::of(table) },
        };
        found.cells += difference.compared;
        if !difference.is_empty() {
            found.tables.push(difference);
        }
    }
    found
}

fn by_id(tables: &[TableFile]) -> BTreeMap<&str, &TableFile> {
    tables.iter().map(|table| (table.id.as_str(), table)).collect()
}

impl TableDifference {
    /// No difference of this table yet.
    fn of(table: &TableFile) -> TableDifference {
        TableDifference { id: table.id.clone(), title: table.title.clone(), ..TableDifference::default() }
    }

    fn is_empty(&self) -> bool {
        self.only.is_none() && self.cells.is_empty() && self.names().iter().all(|(_, names)| names.is_empty())
    }

    /// The names of rows and columns that one of the two has alone, with a heading.
    pub(super) fn names(&self) -> [(&'static str, &Vec<String>); 4] {
        [
            ("columns added", &self.columns_added),
            ("columns removed", &self.columns_removed),
            ("rows added", &self.rows_added),
            ("rows removed", &self.rows_removed),
        ]
    }
}

fn compare_tables(old: &TableFile, new: &TableFile, tolerance: f64) -> TableDifference {
    let (old_columns, new_columns) = (columns(old), columns(new));
    let (old_rows, new_rows) = rows(old, new);
    let mut found = TableDifference {
        columns_added: missing(&new_columns, &old_columns),
        columns_removed: missing(&old_columns, &new_columns),
        rows_added: missing(&new_rows, &old_rows),
        rows_removed: missing(&old_rows, &new_rows),
        ..TableDifference::of(new)
    };
    let old_columns: HashMap<String, usize> = old_columns.into_iter().collect();
    let old_rows: HashMap<String, usize> = old_rows.into_iter().collect();
    for (row, b) in &new_rows {
        let Some(a) = old_rows.get(row) else { continue };
        for (column, at) in new_columns.iter().filter(|(_, at)| *at >= new.shared_columns) {
            let Some(before) = old_columns.get(column) else { continue };
            let (old, new) = (&old.rows[*a].cells[*before], &new.rows[*b].cells[*at]);
            found.compared += 1;
            let what = different(old, new, tolerance);
            if !what.is_empty() {
                let difference = old.value.zip(new.value).map(|(old, new)| new - old);
                let (row, column) = (row.clone(), column.clone());
                let (old, new) = (old.clone(), new.clone());
                found.cells.push(TableCellDifference { row, column, old, new, difference, what });
            }
        }
    }
    found
}

/// Returns those of `these` names that are not among the `others`.
fn missing(these: &Names, others: &Names) -> Vec<String> {
    let others: BTreeSet<&String> = others.iter().map(|(name, _)| name).collect();
    these.iter().map(|(name, _)| name).filter(|name| !others.contains(name)).cloned().collect()
}

fn different(old: &TableCell, new: &TableCell, tolerance: f64) -> Vec<&'static str> {
    let numbers = [
        ("value", old.value, new.value),
        ("deviation", old.deviation, new.deviation),
        ("low", old.low, new.low),
        ("high", old.high, new.high),
    ];
    let is_printed = tolerance == 0.0 || old.value.is_none() || new.value.is_none();
    let text = (is_printed && old.text != new.text).then_some("text");
    let numbers = numbers.into_iter().filter(|(_, old, new)| !is_same(*old, *new, tolerance)).map(|(what, ..)| what);
    text.into_iter().chain(numbers).collect()
}

fn is_same(old: Option<f64>, new: Option<f64>, tolerance: f64) -> bool {
    match (old, new) {
        (Some(old), Some(new)) if old.is_finite() && new.is_finite() => {
            (new - old).abs() <= tolerance * old.abs().max(new.abs()).max(1.0)
        }
        // Of what is not finite, NaN is equal to NaN.
        _ => old == new || old.zip(new).is_some_and(|(old, new)| old.is_nan() && new.is_nan()),
    }
}

#[cfg(test)]
mod tests;
