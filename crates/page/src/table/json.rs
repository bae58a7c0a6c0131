//! A table as JSON, for programs: texts, the numbers behind them, and their sources. Each label is in it once; cells
//! refer to labels by place, and lack the keys of absent values: a table by prefix has tens of thousands of cells.

use cwm_contract::Failure;
use serde::Serialize;
use serde_json::{Value, json};

use super::sources::{places, sources};
use super::{Table, TableCell};
use crate::number::{plain, rounded};

/// Version of the file.
const FORMAT: u32 = 2;

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
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deviation: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    from: Vec<usize>,
}

impl Table {
    /// The JSON file (docs/formats.md, "report"): of the table's fuller data where it has some.
    ///
    /// # Errors
    /// It cannot be written as JSON, which is a mistake of ours.
    pub fn json(&self) -> Result<String, Failure> {
        let failed = |error| Failure::internal(format!("cannot write {} as JSON: {error}", self.id));
        let data = self.data();
        let columns: Vec<Value> = data
            .columns
            .iter()
            .zip(data.keys())
            .map(|(column, key)| json!({ "over": column.over, "name": column.name, "key": key }))
            .collect();
        let mut text = String::from("{\"format\":");
        let labels = sources([data]);
        let head = [
            ("id", json!(self.id)),
            ("title", json!(self.title)),
            ("paper", json!(self.paper)),
            ("caption", json!(self.caption)),
            ("columns", json!(columns)),
            ("shared_columns", json!(data.shared_columns)),
            ("sources", json!(labels)),
        ];
        text.push_str(&FORMAT.to_string());
        for (name, value) in head {
            text.push_str(&format!(",\n\"{name}\":{value}"));
        }
        text.push_str(",\n\"rows\":[");
        let mut between = "\n";
        for (group, (rows, run)) in data.all_groups().enumerate() {
            for row in rows {
                let cells = row.cells.iter().map(|one| cell(one, &labels)).collect();
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

fn cell<'a>(cell: &'a TableCell, labels: &[String]) -> CellOut<'a> {
    CellOut {
        text: &cell.text,
        value: cell.value.map(number),
        deviation: cell.deviation.as_ref().map(|(deviation, _)| number(*deviation)),
        low: cell.interval.as_ref().map(|interval| number(interval.low)),
        high: cell.interval.as_ref().map(|interval| number(interval.high)),
        from: places(labels, cell).collect(),
    }
}

/// A number, or text for what JSON has no number for.
fn number(value: f64) -> Value {
    if value.is_finite() { json!(rounded(value)) } else { json!(plain(value)) }
}
