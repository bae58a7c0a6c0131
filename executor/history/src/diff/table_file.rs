//! A report's `tables/NAME.json` (`docs/formats.md`), as far as a comparison needs it.

use serde::{Deserialize, Serialize};

use cwm_core::Error;

/// Newest version of the file that is read.
pub const TABLE_FORMAT: u64 = 2;

/// A table of a report.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TableFile {
    /// Name of its files: `table-08`.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Columns, from the left.
    pub columns: Vec<TableColumn>,
    /// The first so many columns name a group of rows.
    pub shared_columns: usize,
    /// Rows, from the top.
    pub rows: Vec<TableRow>,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
pub struct TableColumn {
    /// The heading over neighbouring columns; empty for none.
    pub over: String,
    /// Its own heading.
    pub name: String,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TableRow {
    /// `ours`, `paper`, or `difference` between the two.
    pub kind: String,
    /// One a column.
    pub cells: Vec<TableCell>,
}

/// A cell. Floats that JSON does not have are text there: `inf`, `-inf`, `nan`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableCell {
    /// The printed text.
    pub text: String,
    /// The number behind it.
    #[serde(default, with = "json_number", skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Its standard deviation over runs.
    #[serde(default, with = "json_number", skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// Lower end of its interval.
    #[serde(default, with = "json_number", skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of its interval.
    #[serde(default, with = "json_number", skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// Numbers as JSON has them, with text for what it does not have.
pub(super) mod json_number {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Value;

    pub fn serialize<S: Serializer>(number: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        match number.filter(|number| !number.is_finite()) {
            Some(number) => serializer.serialize_str(&number.to_string().to_lowercase()),
            None => number.serialize(serializer),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        let number = match Value::deserialize(deserializer)? {
            Value::Null => return Ok(None),
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        number.map(Some).ok_or_else(|| D::Error::custom("this is not a number"))
    }
}

impl TableFile {
    /// Reads the bytes of the file with the display name `name`.
    ///
    /// # Errors
    /// They are not such a table, or one of a newer version.
    pub fn read(name: &str, bytes: &[u8]) -> Result<TableFile, Error> {
        let wrong = |problem: String| Error::usage(format!("{name} is not a table of a report: {problem}"));
        let json: serde_json::Value = serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
        if let Some(format) = json["format"].as_u64().filter(|format| *format > TABLE_FORMAT) {
            return Err(Error::usage(format!("{name} has format {format}; this cwm reads up to {TABLE_FORMAT}"))
                .hint("use the cwm that wrote it, or a newer one"));
        }
        let table: TableFile = serde_json::from_value(json).map_err(|error| wrong(error.to_string()))?;
        let columns = table.columns.len();
        match table.rows.iter().zip(1..).find(|(row, _)| row.cells.len() != columns) {
            None => Ok(table),
            Some((row, number)) => {
                Err(wrong(format!("row {number} has {} cells, and there are {columns} columns", row.cells.len())))
            }
        }
    }
}
