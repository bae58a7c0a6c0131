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

/// A table of our rows, whose cells have a value where their text is a number.
fn of(columns: &[&str], shared: usize, rows: &[&[&str]]) -> TableFile {
    let cell = |text: &&str| serde_json::json!({ "text": *text, "value": text.parse::<f64>().ok() });
    let row = |cells: &&[&str]| {
        let cells: Vec<serde_json::Value> = cells.iter().map(cell).collect();
        serde_json::json!({ "kind": "ours", "cells": cells })
    };
    let rows: Vec<serde_json::Value> = rows.iter().map(row).collect();
    let column = |name: &&str| serde_json::json!({ "over": "", "name": *name });
    let columns: Vec<serde_json::Value> = columns.iter().map(column).collect();
    let table = serde_json::json!({
        "format": 1, "id": "t", "title": "T", "columns": columns, "shared_columns": shared, "rows": rows
    });
    TableFile::read("t.json", table.to_string().as_bytes()).unwrap()
}

/// Row, column, and both texts of every cell that differs.
fn cells(found: &TableDifference) -> Vec<(&str, &str, &str, &str)> {
    let cells = found.cells.iter();
    cells
        .map(|cell| (cell.row.as_str(), cell.column.as_str(), cell.old.text.as_str(), cell.new.text.as_str()))
        .collect()
}

#[test]
fn reasons_for_drops_are_compared_by_name_however_they_are_sorted() {
    let columns = ["Stage", "Fate", "Games"];
    let read: &[&str] = &["parse", "read", "9"];
    let a: &[&str] = &["parse", "dropped: a", "5"];
    let old = of(&columns, 1, &[read, a, &["parse", "dropped: b", "3"]]);
    let new = of(&columns, 1, &[read, &["parse", "dropped: b", "6"], a]);
    let found = found(&old, &new, 0.0);
    assert_eq!(cells(&found), [("parse, dropped: b", "Games", "3", "6")]);
    assert!(found.rows_added.is_empty() && found.rows_removed.is_empty(), "{found:?}");
}

#[test]
fn runs_are_compared_by_seed() {
    let columns = ["Model", "Size", "Source", "Loss"];
    let old = of(&columns, 2, &[&["a", "s", "2 runs", "1.5"], &["a", "s", "seed 0", "1"], &["a", "s", "seed 1", "2"]]);
    let new = of(&columns, 2, &[&["a", "s", "2 runs", "2.5"], &["a", "s", "seed 1", "2"], &["a", "s", "seed 2", "3"]]);
    let found = found(&old, &new, 0.0);
    assert_eq!(cells(&found), [("a, s", "Loss", "1.5", "2.5")]);
    assert_eq!(
        (&found.rows_removed[..], &found.rows_added[..]),
        (&["a, s, seed 0".to_owned()][..], &["a, s, seed 2".to_owned()][..])
    );
}

#[test]
fn trainings_are_compared_by_label_whatever_their_rank() {
    let columns = ["Choice", "Rank", "Training", "Loss", "Note"];
    let old = of(&columns, 1, &[&["c", "1", "t[lr=1]", "0.5", "chosen: by loss"], &["c", "2", "t[lr=2]", "0.6", ""]]);
    let new = of(&columns, 1, &[&["c", "1", "t[lr=2]", "0.4", "chosen: by loss"], &["c", "2", "t[lr=1]", "0.5", ""]]);
    let found = found(&old, &new, 0.0);
    let (one, two, note) = ("c, t[lr=1]", "c, t[lr=2]", "chosen: by loss");
    assert_eq!(
        cells(&found),
        [
            (two, "Rank", "2", "1"),
            (two, "Loss", "0.6", "0.4"),
            (two, "Note", "", note),
            (one, "Rank", "1", "2"),
            (one, "Note", note, ""),
        ]
    );
}

#[test]
fn a_number_that_is_missing_renames_no_row() {
    let columns = ["Test set", "Model", "Difference"];
    let (old, new) = (of(&columns, 0, &[&["held-out", "a", "0.1"]]), of(&columns, 0, &[&["held-out", "a", "–"]]));
    for (old, new, cell) in [(&old, &new, ("0.1", "–")), (&new, &old, ("–", "0.1"))] {
        let found = found(old, new, 0.0);
        assert_eq!(cells(&found), [("held-out, a", "Difference", cell.0, cell.1)]);
    }
}

#[test]
fn a_column_that_only_one_has_renames_no_row() {
    let old = of(&["Model", "Loss"], 1, &[&["a", "1"]]);
    let new = of(&["Model", "Kind", "Loss"], 1, &[&["a", "large", "2"]]);
    let found = found(&old, &new, 0.0);
    assert_eq!((cells(&found), found.columns_added.len()), (vec![("a", "Loss", "1", "2")], 1));
}

#[test]
fn rows_of_one_name_are_distinguished_by_their_source() {
    let columns = ["Split", "Source", "Games"];
    let old = of(&columns, 1, &[&["Train", "split[t=a]", "5"]]);
    let new = of(&columns, 1, &[&["Train", "split[t=b]", "7"], &["Train", "split[t=a]", "5"]]);
    let found = found(&old, &new, 0.0);
    assert_eq!((cells(&found), &found.rows_added[..]), (vec![], &["Train, split[t=b]".to_owned()][..]));
    assert!(found.rows_removed.is_empty(), "{found:?}");
}

#[test]
fn rows_that_nothing_distinguishes_are_taken_in_their_order() {
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
    assert!(refused(|bad| bad["format"] = 3.into()).contains("has format 3"));
    let row = |bad: &mut serde_json::Value| bad["rows"] = serde_json::json!([{"kind":"ours","cells":[{"text":"a"}]}]);
    assert!(refused(row).contains("row 1 has 1 cells, and there are 0 columns"));
    assert!(refused(|bad| bad["rows"] = 1.into()).starts_with("x/t.json is not a table of a report: "));
}

/// Prefix bins of another width have neither rows nor columns in common with those before.
#[test]
fn what_has_nothing_in_common_is_reported_in_a_line() {
    let (old, new) = (table(&[("ours", "a", "1", 1.0), ("ours", "b", "2", 2.0)]), table(&[("ours", "c", "3", 3.0)]));
    let found = compare(&[old], &[new], 0.0);
    let line = "t (T): no cell in common\n";
    assert_eq!(found.text(), format!("{line}no cell in common in 1 table\n"));
}

#[test]
fn ends_of_intervals_are_printed_as_tables_print_numbers() {
    let cell =
        |low| TableCell { text: "−0.5".into(), value: Some(-0.5), deviation: None, low: Some(low), high: Some(0.25) };
    let (old, new) = (cell(-1.123456789012), cell(-1.0));
    let row = "a".to_owned();
    let one =
        TableCellDifference { column: row.clone(), row, old, new, difference: Some(-0.1 - 0.2), what: vec!["low"] };
    assert_eq!(one.to_string(), "a | a: −0.5 [−1.12346, 0.25] -> −0.5 [−1, 0.25] (−0.3)");
}
