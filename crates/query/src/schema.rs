//! Names and types of columns, for people.

use cwm_contract::ColumnSchema;
use datafusion::arrow::datatypes::{DataType, Schema};

/// The columns of a table.
pub fn columns(schema: &Schema) -> Vec<ColumnSchema> {
    let about = |(name, kind): (&String, &DataType)| ColumnSchema { name: name.clone(), data_type: type_name(kind) };
    schema.fields().iter().map(|field| about((field.name(), field.data_type()))).collect()
}

/// Arrow's name in lower case, but text is `text`, and what is nested is spelled out.
fn type_name(kind: &DataType) -> String {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text".to_owned(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => "bytes".to_owned(),
        DataType::List(of) | DataType::LargeList(of) => format!("list of {}", type_name(of.data_type())),
        DataType::FixedSizeList(of, length) => format!("list of {length} {}", type_name(of.data_type())),
        DataType::Dictionary(_, of) => type_name(of),
        DataType::Struct(fields) => {
            let parts: Vec<_> =
                fields.iter().map(|field| format!("{} {}", field.name(), type_name(field.data_type()))).collect();
            format!("struct of {}", parts.join(", "))
        }
        other => other.to_string().to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::datatypes::Field;

    use super::*;

    #[test]
    fn types_are_reported() {
        let list = DataType::List(Arc::new(Field::new_list_field(DataType::UInt16, true)));
        let found = [DataType::UInt32, DataType::Utf8View, DataType::Float64, list].map(|kind| type_name(&kind));
        assert_eq!(found, ["uint32", "text", "float64", "list of uint16"]);
    }
}
