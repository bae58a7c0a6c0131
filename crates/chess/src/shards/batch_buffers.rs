//! The buffers of a record batch, and the columns that they hold.

use std::borrow::Cow;
use std::ops::Range;

use cwm_encoding::LABELS;

use super::format::{Kind, MAX_TEXT_BYTES};
use super::header::{Column, Header};
use super::labels;
use super::lists::Lists;

/// The prefix of a buffer that is not compressed, in place of its length.
const NOT_COMPRESSED: i64 = -1;

/// The buffers of one record batch.
pub struct BatchBuffers<'a> {
    /// The bytes of the whole file.
    pub bytes: &'a [u8],
    /// The positions of the batch's buffers in the file.
    pub header: Header,
}

/// A column of texts.
#[derive(Debug)]
pub struct Texts {
    bytes: String,
    /// One more than there are texts.
    offsets: Vec<i32>,
}

impl Texts {
    /// The text at `row`, which must be one of those that there are.
    pub fn get(&self, row: usize) -> &str {
        &self.bytes[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }
}

/// A column of labels.
#[derive(Debug)]
pub struct Labels {
    bytes: Vec<u8>,
    offsets: Vec<i32>,
    /// Bit `i % 8` of byte `i / 8`: game `i` carries labels. Empty if none does.
    valid: Vec<u8>,
}

impl Labels {
    /// The labels of the game at `row`, if it carries any.
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        let valid = self.valid.get(row / 8)? >> (row % 8) & 1 == 1;
        valid.then(|| &self.bytes[self.offsets[row] as usize..self.offsets[row + 1] as usize])
    }
}

impl<'a> BatchBuffers<'a> {
    /// Returns the byte ranges of the lists' offsets and numbers in the file, if they are not compressed.
    pub fn lists(&self) -> Result<(Range<usize>, Range<usize>), String> {
        let lists = self.header.columns.iter().find(|column| column.kind == Kind::List).ok_or("it has no lists")?;
        let place = |buffer: &Range<usize>| match self.prefix(buffer)? {
            Prefix::Plain(range) => Ok(range),
            Prefix::Compressed(..) => Err("its lists are compressed, so that they cannot be read in place".to_owned()),
        };
        let too_few = |what| format!("its lists have too few {what}");
        let (mut offsets, mut values) = (place(&lists.first)?, place(&lists.second)?);
        let room = self.header.rows.checked_add(1).and_then(|offsets| offsets.checked_mul(size_of::<i32>()));
        offsets.end = room.filter(|room| *room <= offsets.len()).ok_or_else(|| too_few("offsets"))? + offsets.start;
        let room = lists.items.checked_mul(size_of::<u16>());
        values.end = room.filter(|room| *room <= values.len()).ok_or_else(|| too_few("numbers"))? + values.start;
        Ok((offsets, values))
    }

    /// A column of 64-bit numbers.
    pub fn ordinals(&self, column: usize) -> Result<Vec<u64>, String> {
        let bytes = self.exactly(&self.header.columns[column].first, self.header.rows * size_of::<u64>())?;
        Ok(bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
    }

    /// Checks that a column of 32-bit numbers says of each game how many plies it has: its positions less one, which are
    /// the numbers of its list and `beyond` more.
    pub fn check_plies(&self, column: usize, lists: &Lists, beyond: usize) -> Result<(), String> {
        let bytes = self.exactly(&self.header.columns[column].first, self.header.rows * size_of::<u32>())?;
        for (row, plies) in bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).enumerate() {
            let list = lists.get(row).ok_or_else(|| format!("the list of row {row} ends before it begins"))?;
            if (list.len() + beyond) as u64 != u64::from(plies) + 1 {
                return Err(format!("row {row} declares {plies} plies, and its list has {}", list.len()));
            }
        }
        Ok(())
    }

    /// A column of texts.
    pub fn texts(&self, column: usize) -> Result<Texts, String> {
        let column = &self.header.columns[column];
        let bytes = self.at_most(&column.second, MAX_TEXT_BYTES)?.into_owned();
        let offsets = self.offsets(column, bytes.len())?;
        let bytes = String::from_utf8(bytes).map_err(|_| "a text is not UTF-8")?;
        if offsets.iter().any(|&offset| !bytes.is_char_boundary(offset as usize)) {
            return Err("a text ends inside a character".to_owned());
        }
        Ok(Texts { bytes, offsets })
    }

    /// The column of labels behind the others, if there is one. Those of a game have 75 bytes for each number of its
    /// list, and for `beyond` more positions.
    pub fn labels(&self, lists: &Lists, beyond: usize) -> Result<Option<Labels>, String> {
        let Some(column) = self.header.columns.last().filter(|column| column.kind == Kind::Labels) else {
            return Ok(None);
        };
        let rows = self.header.rows;
        if column.nulls == rows {
            return Ok(Some(Labels { bytes: Vec::new(), offsets: Vec::new(), valid: Vec::new() }));
        }
        let valid = match column.nulls {
            0 => vec![0xff; rows.div_ceil(8)],
            _ => self.at_most(&column.valid, rows.div_ceil(8).next_multiple_of(64))?.into_owned(),
        };
        if valid.len() < rows.div_ceil(8) {
            return Err("it does not mark which games carry labels".to_owned());
        }
        let most =
            (lists.numbers() as usize).saturating_add(rows * beyond).saturating_mul(LABELS).min(i32::MAX as usize);
        let bytes = self.at_most(&column.second, most)?.into_owned();
        let offsets = self.offsets(column, bytes.len())?;
        let labels = Labels { bytes, offsets, valid };
        for row in 0..rows {
            if let Some(carried) = labels.get(row) {
                let list = lists.get(row).ok_or_else(|| format!("row {row} has no list"))?;
                labels::check(carried, list.len() + beyond).map_err(|wrong| format!("row {row}: {wrong}"))?;
            }
        }
        Ok(Some(labels))
    }

    /// The offsets of a column into so many bytes: as many as there are rows and one more, none before the one before.
    fn offsets(&self, column: &Column, bytes: usize) -> Result<Vec<i32>, String> {
        let offsets = self.exactly(&column.first, (self.header.rows + 1) * size_of::<i32>())?;
        let offsets: Vec<i32> = offsets.as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes)).collect();
        let within = offsets[0] >= 0 && offsets[self.header.rows] as usize <= bytes;
        if !within || !offsets.is_sorted() {
            return Err("a column's offsets are out of order".to_owned());
        }
        Ok(offsets)
    }

    /// The first `length` bytes that a buffer holds; it must have them.
    fn exactly(&self, buffer: &Range<usize>, length: usize) -> Result<Cow<'a, [u8]>, String> {
        // Writers that pad before compressing pad to 64 bytes.
        let bytes = self.at_most(buffer, length.next_multiple_of(64))?;
        if bytes.len() < length {
            return Err(format!("a buffer holds {} bytes of {length}", bytes.len()));
        }
        Ok(match bytes {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[..length]),
            Cow::Owned(mut bytes) => {
                bytes.truncate(length);
                Cow::Owned(bytes)
            }
        })
    }

    /// The bytes that a buffer holds, decompressed; never more than `most`, whatever it claims.
    fn at_most(&self, buffer: &Range<usize>, most: usize) -> Result<Cow<'a, [u8]>, String> {
        match self.prefix(buffer)? {
            Prefix::Plain(range) => Ok(Cow::Borrowed(&self.bytes[range])),
            Prefix::Compressed(length, _) if length > most as u64 => {
                Err(format!("a buffer claims to hold {length} bytes; {most} are the most that it may"))
            }
            Prefix::Compressed(length, range) => {
                let bytes = zstd::bulk::decompress(&self.bytes[range], length as usize)
                    .map_err(|error| format!("a buffer cannot be decompressed: {error}"))?;
                if bytes.len() as u64 != length {
                    return Err(format!("a buffer claims to hold {length} bytes and holds {}", bytes.len()));
                }
                Ok(Cow::Owned(bytes))
            }
        }
    }

    /// Reads a buffer's length prefix and returns the range of the rest.
    fn prefix(&self, buffer: &Range<usize>) -> Result<Prefix, String> {
        if !self.header.compressed || buffer.is_empty() {
            return Ok(Prefix::Plain(buffer.clone()));
        }
        let prefix = self.bytes[buffer.clone()].first_chunk().ok_or("a buffer is too short for its length")?;
        let rest = buffer.start + size_of::<i64>()..buffer.end;
        match i64::from_le_bytes(*prefix) {
            NOT_COMPRESSED => Ok(Prefix::Plain(rest)),
            length => match u64::try_from(length) {
                Ok(length) => Ok(Prefix::Compressed(length, rest)),
                Err(_) => Err(format!("a buffer claims to hold {length} bytes")),
            },
        }
    }
}

/// The location of a buffer's bytes.
enum Prefix {
    /// Uncompressed bytes.
    Plain(Range<usize>),
    /// Compressed bytes, of this length before.
    Compressed(u64, Range<usize>),
}
