//! The columns of a file.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};

/// The columns of a line.
pub fn line_fields() -> Fields {
    Fields::from(vec![
        Field::new("centipawns", DataType::Int32, true),
        Field::new("mate", DataType::Int32, true),
        Field::new("depth", DataType::UInt32, true),
        Field::new("moves", DataType::List(move_field()), false),
    ])
}

/// An item of `moves`.
pub fn move_field() -> Arc<Field> {
    Arc::new(Field::new_list_field(DataType::UInt16, false))
}

/// An item of `lines`.
pub fn line_field() -> Arc<Field> {
    Arc::new(Field::new_list_field(DataType::Struct(line_fields()), false))
}

/// All columns.
pub fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("record", DataType::UInt64, false),
        Field::new("game", DataType::UInt64, true),
        Field::new("id", DataType::Utf8, false),
        Field::new("t", DataType::UInt32, true),
        Field::new("fen", DataType::Utf8, false),
        Field::new("lines", DataType::List(line_field()), false),
    ]))
}
