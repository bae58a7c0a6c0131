//! The columns of a file.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};

/// All columns.
pub fn schema() -> SchemaRef {
    let column = |name, kind| Field::new(name, kind, false);
    let optional = |name, kind| Field::new(name, kind, true);
    Arc::new(Schema::new(vec![
        column("record", DataType::UInt64),
        optional("game", DataType::UInt64),
        optional("t", DataType::UInt32),
        column("fen", DataType::Utf8),
        column("legal_moves", DataType::UInt16),
        column("best", DataType::UInt16),
        optional("seen", DataType::Boolean),
        optional("loss", DataType::Float64),
        optional("tokens", DataType::UInt16),
        optional("forced_text", DataType::Utf8),
        optional("forced_valid", DataType::Boolean),
        optional("forced_legal", DataType::Boolean),
        optional("forced_best", DataType::Boolean),
        column("text", DataType::Utf8),
        column("free_valid", DataType::Boolean),
        column("free_legal", DataType::Boolean),
        column("free_best", DataType::Boolean),
        optional("mask_best", DataType::Boolean),
        optional("mask_loss", DataType::Float64),
    ]))
}
