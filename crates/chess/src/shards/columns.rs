//! Columns while they grow.

use arrow_buffer::ToByteSlice;

use super::body::BatchBody;
use super::format::MAX_VALUE_LENGTH;

/// Rows of a batch, at most.
const ROWS: usize = 16_384;

/// Bytes of labels after which a batch is full: reading the labels of one game decodes those of its batch.
const LABELS: usize = 1 << 20;

/// Returns true if a record batch is large enough: so many rows, bytes or numbers in its longest other column, and bytes of
/// labels. Arrow's offsets end at 2^31, far above.
pub fn is_full(rows: usize, longest: usize, labels: usize) -> bool {
    rows >= ROWS || longest >= MAX_VALUE_LENGTH || labels >= LABELS
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

    /// Writes the column; it is empty afterwards.
    pub fn write(&mut self, body: &mut BatchBody) -> std::io::Result<()> {
        body.column(self.ends.len());
        body.compressed(offsets(&self.ends).to_byte_slice())?;
        body.compressed(&self.bytes)?;
        self.bytes.clear();
        self.ends.clear();
        Ok(())
    }
}

/// A growing column of lists of 16-bit numbers.
#[derive(Default)]
pub struct Lists {
    values: Vec<u16>,
    ends: Vec<i32>,
}

impl Lists {
    /// Adds one list.
    pub fn push(&mut self, list: &[u16]) {
        self.values.extend_from_slice(list);
        self.ends.push(self.values.len() as i32);
    }

    /// Numbers held.
    pub fn size(&self) -> usize {
        self.values.len()
    }

    /// Writes the column; it is empty afterwards.
    pub fn write(&mut self, body: &mut BatchBody) {
        body.column(self.ends.len());
        body.in_place(offsets(&self.ends).to_byte_slice());
        body.column(self.values.len());
        body.in_place(self.values.to_byte_slice());
        self.values.clear();
        self.ends.clear();
    }
}

/// A growing column of the labels that some games carry.
#[derive(Default)]
pub struct Labels {
    bytes: Vec<u8>,
    ends: Vec<i32>,
    /// Bit `i % 8` of byte `i / 8`: game `i` carries labels.
    present: Vec<u8>,
    absent: usize,
}

impl Labels {
    /// Adds a game's labels, or that it carries none.
    pub fn push(&mut self, labels: Option<&[u8]>) {
        let row = self.ends.len();
        self.present.resize(row / 8 + 1, 0);
        match labels {
            Some(labels) => {
                self.present[row / 8] |= 1 << (row % 8);
                self.bytes.extend_from_slice(labels);
            }
            None => self.absent += 1,
        }
        self.ends.push(self.bytes.len() as i32);
    }

    /// Bytes held.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Writes the column; it is empty afterwards.
    pub fn write(&mut self, body: &mut BatchBody) -> std::io::Result<()> {
        body.nullable_column(self.ends.len(), self.absent, &self.present)?;
        body.compressed(offsets(&self.ends).to_byte_slice())?;
        body.compressed(&self.bytes)?;
        *self = Labels::default();
        Ok(())
    }
}

/// Writes a column of numbers; it is empty afterwards.
pub fn write_numbers<T>(numbers: &mut Vec<T>, body: &mut BatchBody) -> std::io::Result<()>
where
    [T]: ToByteSlice,
{
    body.column(numbers.len());
    body.compressed(numbers.to_byte_slice())?;
    numbers.clear();
    Ok(())
}

fn offsets(ends: &[i32]) -> Vec<i32> {
    std::iter::once(0).chain(ends.iter().copied()).collect()
}
