//! Two reports, table by table and cell by cell.
//!
//! Rows are known by the texts of their shared columns, their kind, and their number among equals; columns by their
//! headings. So a row that was added moves no other. Rows of kind `difference` follow from two others and are left out.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Serialize, Serializer};

use super::table_file::{Cell, Row, TableFile};

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
    pub old: Printed,
    /// Now.
    pub new: Printed,
    /// New less old, where both are numbers; text for what JSON lacks.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "number")]
    pub difference: Option<f64>,
    /// What differs: `text`, `value`, `deviation`, `low`, `high`.
    pub what: Vec<&'static str>,
}

/// A cell as it is printed, with the numbers behind it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Printed {
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

impl From<&Cell> for Printed {
    fn from(cell: &Cell) -> Self {
        let Cell { text, value, deviation, low, high } = cell.clone();
        Printed { text, value, deviation, low, high }
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
    let (old_rows, new_rows) = (rows(old), rows(new));
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

/// Names of the columns, each with its place.
fn columns(table: &TableFile) -> Vec<(String, usize)> {
    numbered(table.columns.iter().map(super::table_file::Column::full_name).enumerate())
}

/// Names of the rows that are compared, each with its place.
fn rows(table: &TableFile) -> Vec<(String, usize)> {
    let compared = table.rows.iter().enumerate().filter(|(_, row)| row.kind != "difference");
    numbered(compared.map(|(at, row)| (at, name(row, table.shared_columns))))
}

/// What a row is called: where no columns are shared, by the words at its beginning.
fn name(row: &Row, shared: usize) -> String {
    let words = row.cells.iter().take_while(|cell| cell.value.is_none()).count();
    let words: Vec<&str> =
        row.cells.iter().take(if shared > 0 { shared } else { words }).map(|cell| cell.text.as_str()).collect();
    let paper = if row.kind == "ours" { String::new() } else { format!(" ({})", row.kind) };
    format!("{}{paper}", words.join(", "))
}

/// The second of a name gets a number.
fn numbered(names: impl Iterator<Item = (usize, String)>) -> Vec<(String, usize)> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let number = |(at, name): (usize, String)| {
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        (if *count > 1 { format!("{name} #{count}") } else { name }, at)
    };
    names.map(number).collect()
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
mod tests {
    use super::*;

    fn table(rows: &[(&str, &str, &str, f64)]) -> TableFile {
        let row = |(kind, model, text, value): &(&str, &str, &str, f64)| {
            let number = if value.is_finite() { value.to_string() } else { format!("\"{value}\"").to_lowercase() };
            format!(
                r#"{{"group":0,"kind":"{kind}","run":true,"cells":[
                    {{"text":"{model}","value":null,"deviation":null,"low":null,"high":null,"from":[]}},
                    {{"text":"{text}","value":{number},"deviation":null,"low":0.5,"high":2,"from":["x[a=1]"]}}]}}"#
            )
        };
        let rows: Vec<String> = rows.iter().map(row).collect();
        let text = format!(
            r#"{{"format":1,"id":"t","title":"T","paper":null,"caption":"","columns":[{{"over":"","name":"Model"}},
                {{"over":"Test","name":"Loss"}}],"shared_columns":1,"rows":[{}]}}"#,
            rows.join(",")
        );
        TableFile::read("t.json", text.as_bytes()).unwrap()
    }

    fn found(old: &TableFile, new: &TableFile, tolerance: f64) -> TableDifference {
        let found = compare(std::slice::from_ref(old), std::slice::from_ref(new), tolerance);
        found.tables.into_iter().next().unwrap_or_default()
    }

    #[test]
    fn a_cell_that_differs_is_named_by_row_and_column_wherever_it_stands() {
        let old = table(&[("ours", "a", "1.00", 1.0), ("ours", "b", "inf", f64::INFINITY), ("paper", "a", "9", 9.0)]);
        let new = table(&[
            ("ours", "new", "3", 3.0),
            ("ours", "a", "1.50", 1.5),
            ("paper", "a", "9", 9.0),
            ("difference", "a", "-7.5", -7.5),
            ("ours", "b", "inf", f64::INFINITY),
        ]);
        let found = found(&old, &new, 0.0);
        assert_eq!((found.rows_added.as_slice(), found.rows_removed.len()), (["new".to_owned()].as_slice(), 0));
        assert_eq!(found.compared, 3);
        let [cell] = &found.cells[..] else { panic!("{found:?}") };
        assert_eq!((cell.row.as_str(), cell.column.as_str(), cell.difference), ("a", "Test: Loss", Some(0.5)));
        assert_eq!(cell.what, ["text", "value"]);
        assert!(compare(std::slice::from_ref(&new), std::slice::from_ref(&new), 0.0).is_empty());
    }

    #[test]
    fn numbers_within_the_tolerance_are_equal_however_printed() {
        let (old, new) = (table(&[("ours", "a", "200.0", 200.0)]), table(&[("ours", "a", "200.1", 200.1)]));
        assert_eq!(found(&old, &new, 0.0004).cells.len(), 1, "relative to the greater of the two");
        assert_eq!(found(&old, &new, 0.0006).cells.len(), 0);
        let printed = table(&[("ours", "a", "200", 200.0)]);
        assert_eq!(found(&old, &printed, 0.0).cells[0].what, ["text"]);
        assert!(found(&old, &printed, 1e-12).cells.is_empty());
        for (old, new, same) in [
            (f64::NAN, f64::NAN, true),
            (f64::INFINITY, f64::INFINITY, true),
            (f64::INFINITY, f64::NEG_INFINITY, false),
            (f64::INFINITY, 1e308, false),
            (f64::NAN, 1.0, false),
            (0.0, 0.09, true),
        ] {
            assert_eq!(is_same(Some(old), Some(new), 0.1), same, "{old} {new}");
        }
        assert!(!is_same(None, Some(0.0), 1.0));
    }

    #[test]
    fn rows_and_columns_of_one_name_are_counted() {
        let old = table(&[("ours", "a", "1", 1.0), ("ours", "a", "2", 2.0)]);
        let new = table(&[("ours", "a", "1", 1.0), ("ours", "a", "3", 3.0)]);
        let found = found(&old, &new, 0.0);
        assert_eq!(found.cells.iter().map(|cell| cell.row.as_str()).collect::<Vec<_>>(), ["a #2"]);
    }

    #[test]
    fn what_is_no_table_is_refused_in_words() {
        let good = serde_json::json!({"format":1,"id":"t","title":"T","columns":[],"shared_columns":0,"rows":[]});
        let refused = |change: fn(&mut serde_json::Value)| {
            let mut bad = good.clone();
            change(&mut bad);
            TableFile::read("x/t.json", bad.to_string().as_bytes()).unwrap_err().message
        };
        assert!(TableFile::read("t", good.to_string().as_bytes()).is_ok());
        assert!(refused(|bad| bad["format"] = 2.into()).contains("has format 2"));
        let row =
            |bad: &mut serde_json::Value| bad["rows"] = serde_json::json!([{"kind":"ours","cells":[{"text":"a"}]}]);
        assert!(refused(row).contains("row 1 has 1 cells, and there are 0 columns"));
        assert!(refused(|bad| bad["rows"] = 1.into()).starts_with("x/t.json is not a table of a report: "));
    }
}
