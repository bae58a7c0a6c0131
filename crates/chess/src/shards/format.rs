//! Formats of shards: the names of the files, the version and the columns.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_ipc::Type;
use arrow_schema::{DataType, Field, Schema};

use super::ShardError;

/// Bytes that a text, or numbers that a list, may have.
pub const MAX_VALUE_LENGTH: usize = 1 << 24;

/// Bytes that a batch's column of texts may have: it is full at [`MAX_VALUE_LENGTH`], and one more may have crossed that.
pub const MAX_TEXT_BYTES: usize = 2 * MAX_VALUE_LENGTH;

/// The column that a file may have behind those of its format.
const LABELS: (&str, Kind) = ("labels", Kind::Labels);

/// A format of shards.
#[derive(Debug)]
pub struct ShardFormat {
    /// Its name, and the beginning of its files' names.
    pub name: &'static str,
    /// Its version.
    pub version: u32,
    /// Its columns; a file may have one of labels behind them.
    pub columns: &'static [(&'static str, Kind)],
    /// Positions of a game without moves, less the numbers in its list.
    pub positions_beyond_list: usize,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A 64-bit number.
    Ordinal,
    /// A 32-bit number.
    Count,
    /// A text.
    Text,
    /// A list of 16-bit numbers, which is never compressed.
    List,
    /// Bytes, or none.
    Labels,
}

impl Kind {
    fn field(self, name: &str) -> Field {
        match self {
            Kind::Ordinal => Field::new(name, DataType::UInt64, false),
            Kind::Count => Field::new(name, DataType::UInt32, false),
            Kind::Text => Field::new(name, DataType::Utf8, false),
            Kind::List => {
                let item = Field::new_list_field(DataType::UInt16, false);
                Field::new(name, DataType::List(Arc::new(item)), false)
            }
            Kind::Labels => Field::new(name, DataType::Binary, true),
        }
    }

    /// Returns the type of a file's column, if it is one of these.
    fn of(field: arrow_ipc::Field<'_>) -> Option<Self> {
        if field.dictionary().is_some() {
            return None;
        }
        let unsigned = |field: arrow_ipc::Field<'_>| {
            field.type_as_int().filter(|number| !number.is_signed()).map(|number| number.bitWidth())
        };
        match field.type_type() {
            Type::Int if unsigned(field) == Some(64) => Some(Kind::Ordinal),
            Type::Int if unsigned(field) == Some(32) => Some(Kind::Count),
            Type::Utf8 => Some(Kind::Text),
            Type::Binary => Some(Kind::Labels),
            Type::List => {
                let items = field.children()?;
                (items.len() == 1 && unsigned(items.get(0)) == Some(16)).then_some(Kind::List)
            }
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Ordinal => "uint64",
            Kind::Count => "uint32",
            Kind::Text => "utf8",
            Kind::List => "list<uint16>",
            Kind::Labels => "binary",
        }
    }
}

impl ShardFormat {
    /// The name of a shard's file.
    pub fn file_name(&self, shard: usize) -> String {
        format!("{}-{shard:05}.arrow", self.name)
    }

    /// Returns true if a file of this name is a shard.
    pub fn is_shard(&self, name: &str) -> bool {
        name.strip_prefix(self.name).is_some_and(|rest| rest.starts_with('-')) && name.ends_with(".arrow")
    }

    /// The schema with the metadata that name format and version, with or without labels.
    pub fn schema(&self, labelled: bool) -> Schema {
        let metadata = HashMap::from([
            ("cwm.format".to_owned(), self.name.to_owned()),
            ("cwm.version".to_owned(), self.version.to_string()),
        ]);
        let labels = labelled.then_some(&LABELS);
        let fields: Vec<Field> = self.columns.iter().chain(labels).map(|(name, kind)| kind.field(name)).collect();
        Schema::new_with_metadata(fields, metadata)
    }

    /// Checks whether a file with this schema has labels.
    ///
    /// # Errors
    /// It is of another format, of another version, or has other columns.
    pub fn check(&self, path: &Path, schema: arrow_ipc::Schema<'_>) -> Result<bool, ShardError> {
        let metadata = |key: &str| {
            let mut entries = schema.custom_metadata()?.iter().filter(|entry| entry.key() == Some(key));
            entries.next()?.value()
        };
        let found = metadata("cwm.version").and_then(|version| version.parse::<u32>().ok());
        let (Some(name), Some(found)) = (metadata("cwm.format"), found) else {
            return Err(self.content(path, "its metadata lack `cwm.format` or `cwm.version`"));
        };
        if name != self.name {
            return Err(self.content(path, format!("its header declares a {name} file")));
        }
        if found != self.version {
            let (format, known, path) = (self.name, self.version, PathBuf::from(path));
            return Err(ShardError::Version { format, path, found, known });
        }
        if schema.endianness() != arrow_ipc::Endianness::Little {
            return Err(self.content(path, "its numbers are big-endian"));
        }
        let found: Vec<_> = schema.fields().iter().flatten().map(|field| (field.name(), Kind::of(field))).collect();
        let is = |columns: &[(&str, Kind)]| {
            found.len() == columns.len()
                && found.iter().zip(columns).all(|(found, column)| *found == (Some(column.0), Some(column.1)))
        };
        match found.split_last() {
            _ if is(self.columns) => Ok(false),
            Some(_) if is(&[self.columns, &[LABELS]].concat()) => Ok(true),
            _ => {
                let expected: Vec<String> =
                    self.columns.iter().map(|(name, kind)| format!("{name} {}", kind.name())).collect();
                let found: Vec<String> = found
                    .iter()
                    .map(|(name, kind)| {
                        format!("{} {}", name.unwrap_or("?"), kind.map_or("of another type", Kind::name))
                    })
                    .collect();
                Err(self.content(path, format!("its columns are {}, not {}", found.join(", "), expected.join(", "))))
            }
        }
    }

    /// An error about a file's content.
    pub fn content(&self, path: &Path, message: impl ToString) -> ShardError {
        ShardError::Content { format: self.name, path: path.to_owned(), message: message.to_string() }
    }
}
