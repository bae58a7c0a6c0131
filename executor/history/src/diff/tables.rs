//! Two reports, table by table and cell by cell.
//!
//! Rows and columns are known by their names (`row_names.rs`), so one that was added moves no other. Rows of kind
//! `difference` follow from two others and are left out.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Serialize, Serializer};

use super::row_names::{columns, rows};
use super::table_file::{Cell, TableFile};

/// How two reports differ.
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
    /// Whether there is no difference.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }
}

/// Which of the two has something that the other lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Only {
    /// The first.
    Old,
    /// The second.
    New,
}

/// How two tables of one name differ.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TableDifference {
    /// Name of its files.
    pub id: String,
    /// What it is.
    pub title: String,
    /// Whether one report alone has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Only>,
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
    pub cells: Vec<CellDifference>,
    /// Cells that both have.
    pub compared: usize,
}

/// How two cells differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellDifference {
    /// The row's name.
    pub row: String,
    /// The column's headings.
    pub column: String,
    /// Before.
    pub old: PrintedValue,
    /// Now.
    pub new: PrintedValue,
    /// New less old, where both are numbers; text for what JSON lacks.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "number")]
    pub difference: Option<f64>,
    /// What differs: `text`, `value`, `deviation`, `low`, `high`.
    pub what: Vec<&'static str>,
}

/// A cell as it is printed, with the numbers behind it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PrintedValue {
    /// As printed.
    pub text: String,
    /// The number.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "number")]
    pub value: Option<f64>,
    /// Its standard deviation.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "number")]
    pub deviation: Option<f64>,
    /// Lower end of its interval.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "number")]
    pub low: Option<f64>,
    /// Upper end of its interval.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "number")]
    pub high: Option<f64>,
}

fn number<S: Serializer>(number: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match number {
        None => serializer.serialize_none(),
        Some(number) if number.is_finite() => serializer.serialize_f64(*number),
        Some(number) if number.is_nan() => serializer.serialize_str("nan"),
        Some(number) => serializer.serialize_str(if *number > 0.0 { "inf" } else { "-inf" }),
    }
}

impl From<&Cell> for PrintedValue {
    fn from(cell: &Cell) -> Self {
        let Cell { text, value, deviation, low, high } = cell.clone();
        PrintedValue { text, value, deviation, low, high }
    }
}

/// Compares all tables. Numbers are equal if they differ by at most `tolerance`, times the greater of the two where that
/// is over 1; how they are printed counts only where `tolerance` is 0.
pub fn compare(old: &[TableFile], new: &[TableFile], tolerance: f64) -> ReportDifference {
    let by_id = |tables: &'_ [TableFile]| -> BTreeMap<String, usize> {
        tables.iter().enumerate().map(|(index, table)| (table.id.clone(), index)).collect()
    };
    let (olds, news) = (by_id(old), by_id(new));
    let mut found = ReportDifference::default();
    for id in olds.keys().chain(news.keys()).collect::<BTreeSet<_>>() {
        let only = |table: &TableFile, only| TableDifference {
            id: table.id.clone(),
            title: table.title.clone(),
            only: Some(only),
            ..TableDifference::default()
        };
        let difference = match (olds.get(id), news.get(id)) {
            (Some(a), Some(b)) => {
                let difference = compare_tables(&old[*a], &new[*b], tolerance);
                found.compared += 1;
                found.cells += difference.compared;
                difference
            }
            (Some(a), None) => only(&old[*a], Only::Old),
            (None, Some(b)) => only(&new[*b], Only::New),
            (None, None) => continue,
        };
        if !difference.is_empty() {
            found.tables.push(difference);
        }
    }
    found
}

impl TableDifference {
    fn is_empty(&self) -> bool {
        let lists = [&self.columns_added, &self.columns_removed, &self.rows_added, &self.rows_removed];
        self.only.is_none() && self.cells.is_empty() && lists.iter().all(|list| list.is_empty())
    }
}

fn compare_tables(old: &TableFile, new: &TableFile, tolerance: f64) -> TableDifference {
    let (old_columns, new_columns) = (columns(old), columns(new));
    let (old_rows, new_rows) = rows(old, new);
    let lacking = |these: &[(String, usize)], others: &[(String, usize)]| -> Vec<String> {
        let others: BTreeSet<&String> = others.iter().map(|(name, _)| name).collect();
        these.iter().map(|(name, _)| name).filter(|name| !others.contains(name)).cloned().collect()
    };
    let mut found = TableDifference {
        id: new.id.clone(),
        title: new.title.clone(),
        columns_added: lacking(&new_columns, &old_columns),
        columns_removed: lacking(&old_columns, &new_columns),
        rows_added: lacking(&new_rows, &old_rows),
        rows_removed: lacking(&old_rows, &new_rows),
        ..TableDifference::default()
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
                found.cells.push(CellDifference { row, column, old: old.into(), new: new.into(), difference, what });
            }
        }
    }
    found
}

fn different(old: &Cell, new: &Cell, tolerance: f64) -> Vec<&'static str> {
    let numbers = [
        ("value", old.value, new.value),
        ("deviation", old.deviation, new.deviation),
        ("low", old.low, new.low),
        ("high", old.high, new.high),
    ];
    let mut what: Vec<&'static str> =
        numbers.into_iter().filter(|(_, old, new)| !is_same(*old, *new, tolerance)).map(|(what, ..)| what).collect();
    let printed = tolerance == 0.0 || old.value.is_none() || new.value.is_none();
    if printed && old.text != new.text {
        what.insert(0, "text");
    }
    what
}

fn is_same(old: Option<f64>, new: Option<f64>, tolerance: f64) -> bool {
    match (old, new) {
        (None, None) => true,
        (Some(old), Some(new)) if old.is_nan() || new.is_nan() => old.is_nan() && new.is_nan(),
        (Some(old), Some(new)) if old.is_infinite() || new.is_infinite() => old == new,
        (Some(old), Some(new)) => (new - old).abs() <= tolerance * old.abs().max(new.abs()).max(1.0),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
