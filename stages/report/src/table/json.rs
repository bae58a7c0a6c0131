//! A table as JSON, for programs: what is printed, the numbers behind it, and where they come from.

use cwm_contract::Failure;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Cell, Table};
use crate::number::{plain, rounded};

/// Version of the file.
const FORMAT: u32 = 1;

/// A row; a line of the file, so that two files can be compared line by line.
#[derive(Serialize)]
struct Row<'a> {
    group: usize,
    kind: &'static str,
    run: bool,
    cells: Vec<CellOut<'a>>,
}

#[derive(Serialize)]
struct CellOut<'a> {
    text: &'a str,
    value: Value,
    deviation: Value,
    low: Value,
    high: Value,
    from: &'a [String],
}

impl Table {
    /// The JSON file (docs/formats.md, "report"): of the table's fuller data where it has some.
    ///
    /// # Errors
    /// It cannot be written as JSON, which is a mistake of ours.
    pub(crate) fn json(&self) -> Result<String, Failure> {
        let failed = |error| Failure::internal(format!("cannot write {} as JSON: {error}", self.id));
        let data = self.data();
        let columns: Vec<Value> = data
            .columns
            .iter()
            .zip(data.keys())
            .map(|(column, key)| json!({ "over": column.over, "name": column.name, "key": key }))
            .collect();
        let mut text = String::from("{\"format\":");
        let head = [
            ("id", json!(self.id)),
            ("title", json!(self.title)),
            ("paper", json!(self.paper)),
            ("caption", json!(self.caption)),
            ("columns", json!(columns)),
            ("shared_columns", json!(data.shared_columns)),
        ];
        text.push_str(&FORMAT.to_string());
        for (name, value) in head {
            text.push_str(&format!(",\n\"{name}\":{value}"));
        }
        text.push_str(",\n\"rows\":[");
        let mut between = "\n";
        for (group, (rows, run)) in data.all_groups().enumerate() {
            for row in rows {
                let cells = row.cells.iter().map(cell).collect();
                let row = Row { group, kind: row.kind.name(), run, cells };
                text.push_str(between);
                text.push_str(&serde_json::to_string(&row).map_err(failed)?);
                between = ",\n";
            }
        }
        text.push_str("\n]}\n");
        Ok(text)
    }
}

fn cell(cell: &Cell) -> CellOut<'_> {
    CellOut {
        text: &cell.text,
        value: number(cell.value),
        deviation: number(cell.deviation.as_ref().map(|(deviation, _)| *deviation)),
        low: number(cell.interval.as_ref().map(|interval| interval.low)),
        high: number(cell.interval.as_ref().map(|interval| interval.high)),
        from: &cell.sources,
    }
}

/// A number, null for none, and text for what JSON has no number for.
fn number(value: Option<f64>) -> Value {
    match value {
        None => Value::Null,
        Some(value) if value.is_finite() => json!(rounded(value)),
        Some(value) => json!(plain(value)),
    }
}
