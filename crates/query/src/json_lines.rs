//! JSON lines as a table. A column is what all its values are: numbers, also where some are not finite and so are text
//! (`inf`, `-inf`, `nan`), booleans, else text. The keys of an object within an object are columns of their own,
//! `parameters_lr` of `{"parameters": {"lr": 1}}`; a list is its text.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cwm_contract::Failure;
use datafusion::arrow::array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use datafusion::arrow::record_batch::RecordBatch;
use serde_json::{Map, Value};

/// Lines that are one batch.
const BATCH: usize = 8_192;

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnType {
    Nothing,
    Boolean,
    Integer,
    Float,
    Text,
}

/// The columns of a table, in the order in which lines name them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns(Vec<(String, ColumnType)>);

impl Columns {
    /// Infers the columns from all lines of these files.
    ///
    /// # Errors
    /// One cannot be read, or has a line that is no JSON object.
    pub fn infer<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Result<Self, Failure> {
        let mut columns = Columns::default();
        for path in paths {
            for_each_line(path, |line| {
                for (name, value) in line {
                    let holds = ColumnType::of(&value);
                    match columns.0.iter_mut().find(|(other, _)| *other == name) {
                        Some((_, known)) => *known = known.and(holds),
                        None => columns.0.push((name, holds)),
                    }
                }
                Ok(())
            })?;
        }
        Ok(columns)
    }

    /// The lines of a file as rows with these columns.
    ///
    /// # Errors
    /// As [`Columns::infer`].
    pub fn rows(&self, path: &Path) -> Result<Vec<RecordBatch>, Failure> {
        let mut batches = Vec::new();
        let mut lines = Vec::new();
        for_each_line(path, |line| {
            lines.push(line);
            if lines.len() == BATCH {
                batches.push(self.batch(&std::mem::take(&mut lines))?);
            }
            Ok(())
        })?;
        if !lines.is_empty() || batches.is_empty() {
            batches.push(self.batch(&lines)?);
        }
        Ok(batches)
    }

    fn batch(&self, lines: &[Vec<(String, Value)>]) -> Result<RecordBatch, Failure> {
        let columns = self.0.iter().map(|(name, holds)| {
            let values =
                || lines.iter().map(|line| line.iter().find(|(other, _)| other == name).map(|(_, value)| value));
            let array: ArrayRef = match holds {
                ColumnType::Boolean => Arc::new(BooleanArray::from_iter(values().map(|value| value?.as_bool()))),
                ColumnType::Integer => Arc::new(Int64Array::from_iter(values().map(|value| value?.as_i64()))),
                ColumnType::Float => Arc::new(Float64Array::from_iter(values().map(|value| number(value?)))),
                ColumnType::Nothing | ColumnType::Text => {
                    Arc::new(StringArray::from_iter(values().map(|value| text(value?))))
                }
            };
            (name, array, true)
        });
        RecordBatch::try_from_iter_with_nullable(columns)
            .map_err(|error| Failure::input(format!("these JSON lines are no table: {error}")))
    }
}

impl ColumnType {
    fn of(value: &Value) -> Self {
        match value {
            Value::Null => ColumnType::Nothing,
            Value::Bool(_) => ColumnType::Boolean,
            Value::Number(number) if number.as_i64().is_some() => ColumnType::Integer,
            value if number(value).is_some() => ColumnType::Float,
            _ => ColumnType::Text,
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (one, another) if one == another => one,
            (ColumnType::Nothing, known) | (known, ColumnType::Nothing) => known,
            (ColumnType::Integer, ColumnType::Float) | (ColumnType::Float, ColumnType::Integer) => ColumnType::Float,
            _ => ColumnType::Text,
        }
    }
}

/// The number that it is, or stands for.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => match text.as_str() {
            "inf" => Some(f64::INFINITY),
            "-inf" => Some(f64::NEG_INFINITY),
            "nan" => Some(f64::NAN),
            _ => None,
        },
        _ => None,
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// Calls `each` with the keys and values of every line.
fn for_each_line(
    path: &Path,
    mut each: impl FnMut(Vec<(String, Value)>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed = |error| Failure::io("read", path, error);
    for (index, line) in BufReader::new(File::open(path).map_err(failed)?).lines().enumerate() {
        let line = line.map_err(failed)?;
        if line.trim().is_empty() {
            continue;
        }
        let object: Map<String, Value> = serde_json::from_str(&line)
            .map_err(|error| Failure::input(format!("line {} is no JSON object: {error}", index + 1)))?;
        let mut flat = Vec::new();
        flatten("", object, &mut flat);
        each(flat)?;
    }
    Ok(())
}

fn flatten(before: &str, object: Map<String, Value>, flat: &mut Vec<(String, Value)>) {
    for (key, value) in object {
        match value {
            Value::Object(inner) => flatten(&format!("{before}{key}_"), inner, flat),
            value => flat.push((format!("{before}{key}"), value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::util::pretty::pretty_format_batches;

    use super::*;

    #[test]
    fn a_column_is_what_all_its_values_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let lines = [
            r#"{"step":1,"loss":0.5,"ok":true,"name":"a","mixed":1,"none":null,"in":{"lr":1}}"#,
            "",
            r#"{"step":2,"loss":"inf","ok":null,"name":"inf","mixed":"x","list":[1,"b"],"in":{"lr":0.5}}"#,
        ];
        std::fs::write(&path, lines.join("\n")).unwrap();
        let columns = Columns::infer([&path]).unwrap();
        let rows = pretty_format_batches(&columns.rows(&path).unwrap()).unwrap().to_string();
        let expected = "
+-------+------+-------+------+------+------+------+---------+
| in_lr | loss | mixed | name | none | ok   | step | list    |
+-------+------+-------+------+------+------+------+---------+
| 1.0   | 0.5  | 1     | a    |      | true | 1    |         |
| 0.5   | inf  | x     | inf  |      |      | 2    | [1,\"b\"] |
+-------+------+-------+------+------+------+------+---------+";
        assert_eq!(rows, expected.trim_start());
    }

    #[test]
    fn a_bad_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        std::fs::write(&path, "{}\n[1]\n").unwrap();
        let message = Columns::infer([&path]).unwrap_err().message;
        assert!(message.starts_with("line 2 is no JSON object: "), "{message}");
    }
}
