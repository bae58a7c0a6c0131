//! One JSON object a line.

use std::fmt::Write as _;
use std::io::Write;

use cwm_contract::{Failure, is_hidden};
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::{
    DataType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::display::array_value_to_string;
use serde_json::{Map, Value};

use super::write_failure;

/// Writes the rows, with the columns in their order. A float that is not finite is text (`inf`, `-inf`, `nan`), as in all
/// our formats; bytes are hexadecimal.
///
/// # Errors
/// A value has no form in JSON, or the lines cannot be written.
pub fn write(batch: &RecordBatch, out: &mut dyn Write) -> Result<(), Failure> {
    let schema = batch.schema();
    let names: Vec<String> =
        schema.fields().iter().map(|field| plain(&Value::String(field.name().clone()).to_string())).collect();
    let mut line = String::new();
    for row in 0..batch.num_rows() {
        line.clear();
        for (name, column) in names.iter().zip(batch.columns()) {
            line.push(if line.is_empty() { '{' } else { ',' });
            line.push_str(name);
            line.push(':');
            line.push_str(&plain(&value(column, row)?.to_string()));
        }
        line.push_str(if names.is_empty() { "{}\n" } else { "}\n" });
        out.write_all(line.as_bytes()).map_err(write_failure)?;
    }
    Ok(())
}

/// JSON that means the same, with no hidden character in it.
fn plain(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        if is_hidden(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(character);
        }
    }
    escaped
}

fn value(column: &dyn Array, row: usize) -> Result<Value, Failure> {
    if column.is_null(row) {
        return Ok(Value::Null);
    }
    let list = |items: &dyn Array| (0..items.len()).map(|item| value(items, item)).collect::<Result<Vec<_>, _>>();
    Ok(match column.data_type() {
        DataType::Null => Value::Null,
        DataType::Boolean => column.as_boolean().value(row).into(),
        DataType::Int8 => column.as_primitive::<Int8Type>().value(row).into(),
        DataType::Int16 => column.as_primitive::<Int16Type>().value(row).into(),
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).into(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
        DataType::UInt8 => column.as_primitive::<UInt8Type>().value(row).into(),
        DataType::UInt16 => column.as_primitive::<UInt16Type>().value(row).into(),
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).into(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).into(),
        DataType::Float32 => float(column.as_primitive::<Float32Type>().value(row).into()),
        DataType::Float64 => float(column.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8 => column.as_string::<i32>().value(row).into(),
        DataType::LargeUtf8 => column.as_string::<i64>().value(row).into(),
        DataType::Utf8View => column.as_string_view().value(row).into(),
        DataType::List(_) => list(&column.as_list::<i32>().value(row))?.into(),
        DataType::LargeList(_) => list(&column.as_list::<i64>().value(row))?.into(),
        DataType::FixedSizeList(..) => list(&column.as_fixed_size_list().value(row))?.into(),
        DataType::Struct(fields) => {
            let parts = fields.iter().zip(column.as_struct().columns());
            let parts = parts.map(|(field, part)| Ok((field.name().clone(), value(part, row)?)));
            Value::Object(parts.collect::<Result<Map<_, _>, Failure>>()?)
        }
        // Bytes come out in hexadecimal, times and decimals as they are written.
        other => array_value_to_string(column, row)
            .map_err(|error| Failure::input(format!("a value of type {other} has no form in JSON: {error}")))?
            .into(),
    })
}

fn float(value: f64) -> Value {
    match value {
        _ if value.is_nan() => "nan".into(),
        f64::INFINITY => "inf".into(),
        f64::NEG_INFINITY => "-inf".into(),
        _ => value.into(),
    }
}
