//! Columns of variable length while they grow, and the arrays that they become.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, ListArray, StringArray, UInt16Array};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field};

/// Whether a record batch is large enough: `rows` rows, and `longest` bytes or numbers in its longest column. The
/// latter is far below 2^31, where Arrow's offsets end.
pub fn is_full(rows: usize, longest: usize) -> bool {
    rows >= 16_384 || longest >= 1 << 24
}

/// A growing column of texts.
#[derive(Default)]
pub struct Texts {
    bytes: Vec<u8>,
    ends: Vec<i32>,
}

impl Texts {
    /// Adds one text.
    pub fn push(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.ends.push(self.bytes.len() as i32);
    }

    /// Bytes held.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The column as an array; it is empty afterwards.
    pub fn take(&mut self) -> Result<ArrayRef, ArrowError> {
        let values = Buffer::from_vec(std::mem::take(&mut self.bytes));
        Ok(Arc::new(StringArray::try_new(offsets(&mut self.ends), values, None)?))
    }
}

/// A growing column of lists of 16-bit numbers.
#[derive(Default)]
pub struct Lists {
    values: Vec<u16>,
    ends: Vec<i32>,
}

impl Lists {
    /// Adds one list, given in pieces.
    pub fn push(&mut self, items: impl IntoIterator<Item = u16>) {
        self.values.extend(items);
        self.ends.push(self.values.len() as i32);
    }

    /// Numbers held.
    pub fn size(&self) -> usize {
        self.values.len()
    }

    /// The column as an array; it is empty afterwards.
    pub fn take(&mut self) -> Result<ArrayRef, ArrowError> {
        let values = UInt16Array::new(std::mem::take(&mut self.values).into(), None);
        Ok(Arc::new(ListArray::try_new(item_field(), offsets(&mut self.ends), Arc::new(values), None)?))
    }
}

/// A growing column of the labels that some games carry.
#[derive(Default)]
pub struct Labels {
    bytes: Vec<u8>,
    ends: Vec<i32>,
    present: Vec<bool>,
}

impl Labels {
    /// Adds a game's labels, or that it carries none.
    pub fn push(&mut self, labels: Option<&[u8]>) {
        self.bytes.extend_from_slice(labels.unwrap_or_default());
        self.ends.push(self.bytes.len() as i32);
        self.present.push(labels.is_some());
    }

    /// Bytes held.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The column as an array; it is empty afterwards.
    pub fn take(&mut self) -> Result<ArrayRef, ArrowError> {
        let values = Buffer::from_vec(std::mem::take(&mut self.bytes));
        let present = NullBuffer::from(std::mem::take(&mut self.present));
        Ok(Arc::new(BinaryArray::try_new(offsets(&mut self.ends), values, Some(present))?))
    }
}

/// The column of labels; a file has it or has it not.
pub fn labels_field() -> Field {
    Field::new("labels", DataType::Binary, true)
}

/// The field of a list's items.
fn item_field() -> Arc<Field> {
    Arc::new(Field::new_list_field(DataType::UInt16, false))
}

/// The type of a list column.
pub fn list_type() -> DataType {
    DataType::List(item_field())
}

fn offsets(ends: &mut Vec<i32>) -> OffsetBuffer<i32> {
    let mut offsets = Vec::with_capacity(ends.len() + 1);
    offsets.push(0);
    offsets.append(ends);
    OffsetBuffer::new(ScalarBuffer::from(offsets))
}
