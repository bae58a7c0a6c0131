//! Columns in words.

use cwm_contract::ColumnAbout;
use datafusion::arrow::datatypes::{DataType, Schema};

/// The columns of a table.
pub fn columns(schema: &Schema) -> Vec<ColumnAbout> {
    let about = |(name, kind): (&String, &DataType)| ColumnAbout { name: name.clone(), holds: words(kind) };
    schema.fields().iter().map(|field| about((field.name(), field.data_type()))).collect()
}

/// Arrow's name in lower case, but text is `text`, and what is nested is said in words.
fn words(kind: &DataType) -> String {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text".to_owned(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => "bytes".to_owned(),
        DataType::List(of) | DataType::LargeList(of) => format!("list of {}", words(of.data_type())),
        DataType::FixedSizeList(of, length) => format!("list of {length} {}", words(of.data_type())),
        DataType::Dictionary(_, of) => words(of),
        DataType::Struct(fields) => {
            let parts: Vec<_> =
                fields.iter().map(|field| format!("{} {}", field.name(), words(field.data_type()))).collect();
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
    fn types_are_said_in_words() {
        let list = DataType::List(Arc::new(Field::new_list_field(DataType::UInt16, true)));
        let found = [DataType::UInt32, DataType::Utf8View, DataType::Float64, list].map(|kind| words(&kind));
        assert_eq!(found, ["uint32", "text", "float64", "list of uint16"]);
    }
}
