//! The columns of what is handed out, and a record batch of them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::{
    ArrayRef, FixedSizeListArray, ListArray, RecordBatch, StringArray, UInt8Array, UInt16Array, UInt32Array,
    UInt64Array,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use cwm_chess::DatasetRow;
use cwm_encoding::{EnPassant, LABELS, ReplayError, replay_into};

/// The labels that are exported with the games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Labels {
    /// None.
    None,
    /// The labels in the dataset, unchanged; it has them for games that no standard replay reproduces.
    Stored,
    /// The labels of every position.
    All,
}

/// Games in columns while they are gathered.
pub struct Columns {
    schema: SchemaRef,
    index: Vec<u64>,
    id: Vec<String>,
    result: Vec<String>,
    lengths: Vec<usize>,
    tokens: Vec<u16>,
    labels: LabelColumn,
}

enum LabelColumn {
    None,
    Stored(BinaryBuilder),
    All(Vec<u8>),
}

/// The schema of what is handed out: the columns of a dataset. Its metadata name the format and its version.
pub fn schema(format: &str, version: u32, labels: Labels) -> SchemaRef {
    let mut fields = vec![
        Field::new("index", DataType::UInt64, false),
        Field::new("id", DataType::Utf8, false),
        Field::new("tokens", DataType::List(token_field()), false),
        Field::new("result", DataType::Utf8, false),
        Field::new("plies", DataType::UInt32, false),
    ];
    match labels {
        Labels::None => {}
        Labels::Stored => fields.push(Field::new("labels", DataType::Binary, true)),
        Labels::All => fields.push(Field::new("labels", DataType::List(position_field()), false)),
    }
    let metadata =
        HashMap::from([("cwm.format".to_owned(), format.to_owned()), ("cwm.version".to_owned(), version.to_string())]);
    Arc::new(Schema::new_with_metadata(fields, metadata))
}

fn token_field() -> Arc<Field> {
    Arc::new(Field::new_list_field(DataType::UInt16, false))
}

/// One position: its 75 labels. A list of these, rather than bytes, is what numpy and torch see as `[positions, 75]`
/// without a copy.
fn position_field() -> Arc<Field> {
    Arc::new(Field::new_list_field(DataType::FixedSizeList(label_field(), LABELS as i32), false))
}

fn label_field() -> Arc<Field> {
    Arc::new(Field::new_list_field(DataType::UInt8, false))
}

impl Columns {
    /// No games yet, with room for `positions`. The schema is one with these labels.
    pub fn new(schema: SchemaRef, labels: Labels, positions: usize) -> Self {
        let labels = match labels {
            Labels::None => LabelColumn::None,
            Labels::Stored => LabelColumn::Stored(BinaryBuilder::new()),
            Labels::All => LabelColumn::All(Vec::with_capacity(positions * LABELS)),
        };
        Columns {
            schema,
            index: Vec::new(),
            id: Vec::new(),
            result: Vec::new(),
            lengths: Vec::new(),
            tokens: Vec::with_capacity(positions),
            labels,
        }
    }

    /// Adds a game.
    ///
    /// # Errors
    /// Its labels are wanted, are not in the dataset, and its tokens are not a game.
    pub fn push(&mut self, game: &DatasetRow<'_>) -> Result<(), ReplayError> {
        self.index.push(game.index);
        self.id.push(game.id.to_owned());
        self.result.push(game.result.to_owned());
        self.lengths.push(game.tokens.len());
        self.tokens.extend_from_slice(game.tokens);
        match (&mut self.labels, game.labels) {
            (LabelColumn::None, _) => {}
            (LabelColumn::Stored(stored), labels) => stored.append_option(labels),
            (LabelColumn::All(all), Some(labels)) => all.extend_from_slice(labels),
            (LabelColumn::All(all), None) => {
                let before = all.len();
                all.resize(before + game.tokens.len() * LABELS, 0);
                replay_into(game.tokens, EnPassant::Always, &mut all[before..])?;
            }
        }
        Ok(())
    }

    /// All of it as a record batch.
    pub fn into_batch(self) -> Result<RecordBatch, ArrowError> {
        let plies: Vec<u32> = self.lengths.iter().map(|length| length.saturating_sub(1) as u32).collect();
        let offsets = OffsetBuffer::from_lengths(self.lengths);
        let tokens = Arc::new(UInt16Array::from(self.tokens));
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from(self.index)),
            Arc::new(StringArray::from(self.id)),
            Arc::new(ListArray::try_new(token_field(), offsets.clone(), tokens, None)?),
            Arc::new(StringArray::from(self.result)),
            Arc::new(UInt32Array::from(plies)),
        ];
        match self.labels {
            LabelColumn::None => {}
            LabelColumn::Stored(mut stored) => columns.push(Arc::new(stored.finish())),
            LabelColumn::All(labels) => {
                let labels = Arc::new(UInt8Array::from(labels));
                let positions = FixedSizeListArray::try_new(label_field(), LABELS as i32, labels, None)?;
                columns.push(Arc::new(ListArray::try_new(position_field(), offsets, Arc::new(positions), None)?));
            }
        }
        RecordBatch::try_new(self.schema, columns)
    }
}
