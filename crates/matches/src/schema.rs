//! The columns of a file.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};

/// An item of `moves`.
pub fn move_field() -> Arc<Field> {
    Arc::new(Field::new_list_field(DataType::UInt16, false))
}

/// All columns.
pub fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("game", DataType::UInt64, false),
        Field::new("pair", DataType::UInt64, false),
        Field::new("opening", DataType::Utf8, false),
        Field::new("white", DataType::Utf8, false),
        Field::new("black", DataType::Utf8, false),
        Field::new("first_white", DataType::Boolean, false),
        Field::new("result", DataType::Utf8, false),
        Field::new("score", DataType::Float64, false),
        Field::new("plies", DataType::UInt32, false),
        Field::new("end", DataType::Utf8, false),
        Field::new("illegal_attempts", DataType::UInt32, false),
        Field::new("level", DataType::UInt8, true),
        Field::new("moves", DataType::List(move_field()), false),
    ]))
}
