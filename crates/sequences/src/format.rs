//! Names, version, columns and metadata of a file.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_ipc::Type;
use arrow_schema::{DataType, Field, FieldRef, Schema};
use cwm_contract::Failure;

use crate::Vocabulary;

/// Rows of a file, unless stated otherwise.
pub const SHARD_ROWS: u64 = 1_000_000;

const NAME: &str = "sequences";
const VERSION: &str = "1";

/// Keys of the metadata.
const FORMAT_KEY: &str = "cwm.format";
const VERSION_KEY: &str = "cwm.version";
const VOCABULARY_KEY: &str = "cwm.vocabulary";

/// The columns as [`described`] has them.
const COLUMNS: [&str; 3] = ["id utf8", "tokens list<uint16>", "targets list<uint16>"];

/// The name of a shard's file.
pub fn file_name(shard: usize) -> String {
    format!("{NAME}-{shard:05}.arrow")
}

/// Returns true if a file of this name is a shard.
pub fn is_shard(name: &str) -> bool {
    name.strip_prefix(NAME).is_some_and(|rest| rest.starts_with('-')) && name.ends_with(".arrow")
}

/// An entry of the lists.
pub fn item() -> FieldRef {
    Arc::new(Field::new_list_field(DataType::UInt16, false))
}

/// The columns, and the metadata that name format, version and vocabulary.
pub fn schema(vocabulary: &Vocabulary) -> Result<Schema, Failure> {
    let vocabulary = serde_json::to_string(vocabulary).map_err(|error| Failure::internal(error.to_string()))?;
    let metadata = HashMap::from([
        (FORMAT_KEY.to_owned(), NAME.to_owned()),
        (VERSION_KEY.to_owned(), VERSION.to_owned()),
        (VOCABULARY_KEY.to_owned(), vocabulary),
    ]);
    let list = |name| Field::new(name, DataType::List(item()), false);
    let fields = vec![Field::new("id", DataType::Utf8, false), list("tokens"), list("targets")];
    Ok(Schema::new_with_metadata(fields, metadata))
}

/// Checks a file's schema and returns its vocabulary, or the problem as text.
pub fn check(schema: arrow_ipc::Schema<'_>) -> Result<Vocabulary, String> {
    let metadata = |key: &str| {
        let mut entries = schema.custom_metadata().into_iter().flatten();
        entries.find(|entry| entry.key() == Some(key))?.value()
    };
    match metadata(FORMAT_KEY) {
        Some(NAME) => {}
        Some(other) => return Err(format!("its header declares a {other} file")),
        None => return Err(format!("its metadata lack `{FORMAT_KEY}`")),
    }
    match metadata(VERSION_KEY) {
        Some(VERSION) => {}
        other => return Err(format!("its version is {}, and this cwm reads {VERSION}", other.unwrap_or("missing"))),
    }
    if schema.endianness() != arrow_ipc::Endianness::Little {
        return Err("its numbers are big-endian".to_owned());
    }
    let found: Vec<String> = schema.fields().into_iter().flatten().map(described).collect();
    if found != COLUMNS {
        return Err(format!("its columns are {}, not {}", found.join(", "), COLUMNS.join(", ")));
    }
    let vocabulary = metadata(VOCABULARY_KEY).ok_or_else(|| format!("its metadata lack `{VOCABULARY_KEY}`"))?;
    serde_json::from_str(vocabulary).map_err(|error| format!("`{VOCABULARY_KEY}` of its metadata: {error}"))
}

/// A column's name and type.
fn described(field: arrow_ipc::Field<'_>) -> String {
    let is_number = |field: arrow_ipc::Field<'_>| {
        field.type_as_int().is_some_and(|number| !number.is_signed() && number.bitWidth() == 16)
    };
    let items = || field.children().filter(|items| items.len() == 1 && is_number(items.get(0)));
    let kind = match field.type_type() {
        _ if field.dictionary().is_some() => "of another type",
        Type::Utf8 => "utf8",
        Type::List if items().is_some() => "list<uint16>",
        _ => "of another type",
    };
    format!("{} {kind}", field.name().unwrap_or("?"))
}

/// The error of a file that is none of these.
pub fn wrong_format(path: &Path, what: impl std::fmt::Display) -> Failure {
    Failure::input(format!("{} is not a {NAME} file: {what}", path.display()))
}
