//! A record batch, whose numbers are read where they lie in the file.

use std::ops::Range;

use arrow_buffer::{ArrowNativeType, Buffer, ScalarBuffer};
use arrow_ipc::root_as_message;

use crate::Sequence;

/// The marker before a message's header; the header's length follows.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// The columns of a record batch.
#[derive(Debug)]
pub struct Batch {
    rows: usize,
    ids: Column<u8>,
    tokens: Column<u16>,
    targets: Column<u16>,
}

/// Lists of numbers, or texts.
#[derive(Debug)]
struct Column<T: ArrowNativeType> {
    /// One more than there are rows.
    offsets: ScalarBuffer<i32>,
    values: ScalarBuffer<T>,
}

impl Batch {
    /// Opens the record batch whose header and body lie at these bytes of the file. The header alone is read.
    ///
    /// # Errors
    /// The problem, as text.
    pub fn open(file: &Buffer, header: Range<usize>, body: Range<usize>) -> Result<Self, String> {
        let (mark, rest) = file[header].split_first_chunk::<4>().ok_or("its header is too short")?;
        let (length, rest) = rest.split_first_chunk::<4>().ok_or("its header is too short")?;
        let length = usize::try_from(i32::from_le_bytes(*length)).ok().filter(|_| *mark == CONTINUATION);
        let message = length.and_then(|length| rest.get(..length)).ok_or("its header has no length")?;
        let message = root_as_message(message).map_err(|error| format!("its header is damaged: {error}"))?;
        let batch = message.header_as_record_batch().ok_or("it is no record batch")?;
        if batch.compression().is_some() {
            return Err("it is compressed, so that it cannot be read in place".to_owned());
        }
        let rows = usize::try_from(batch.length()).map_err(|_| "its number of rows is negative")?;
        let nodes: Vec<_> = batch.nodes().into_iter().flatten().collect();
        let buffers: Vec<_> = batch.buffers().into_iter().flatten().collect();
        // A column of texts is a node and three buffers; one of lists is two nodes, and two buffers each.
        let (
            [ids, tokens, _, targets, _],
            &[_, ids_at, id_bytes, _, tokens_at, _, tokens_in, _, targets_at, _, targets_in],
        ) = (nodes.as_slice(), buffers.as_slice())
        else {
            return Err("it does not have the columns of the schema".to_owned());
        };
        if nodes.iter().any(|node| node.null_count() != 0) {
            return Err("it has nulls".to_owned());
        }
        if [ids, tokens, targets].iter().any(|node| node.length() != batch.length()) {
            return Err("its columns are not of the same length".to_owned());
        }
        let place = |buffer: &arrow_ipc::Buffer| place(buffer, &body);
        Ok(Batch {
            rows,
            ids: Column::open(file, rows, place(ids_at)?, place(id_bytes)?)?,
            tokens: Column::open(file, rows, place(tokens_at)?, place(tokens_in)?)?,
            targets: Column::open(file, rows, place(targets_at)?, place(targets_in)?)?,
        })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// A row, which must be one of those that there are.
    ///
    /// # Errors
    /// The problem, as text.
    pub fn row(&self, row: usize) -> Result<Sequence<'_>, String> {
        let ends_early = || "it ends before it begins, or beyond its column".to_owned();
        let id = self.ids.get(row).ok_or_else(ends_early)?;
        Ok(Sequence {
            id: str::from_utf8(id).map_err(|error| format!("its id is not UTF-8: {error}"))?,
            tokens: self.tokens.get(row).ok_or_else(ends_early)?,
            targets: self.targets.get(row).ok_or_else(ends_early)?,
        })
    }
}

impl<T: ArrowNativeType> Column<T> {
    fn open(file: &Buffer, rows: usize, offsets: Range<usize>, values: Range<usize>) -> Result<Self, String> {
        let offsets = numbers::<i32>(file, offsets)?;
        if rows > 0 && offsets.len() <= rows {
            return Err(format!("a column has {} offsets for {rows} rows", offsets.len()));
        }
        Ok(Column { offsets, values: numbers(file, values)? })
    }

    fn get(&self, row: usize) -> Option<&[T]> {
        let end = |at: usize| usize::try_from(*self.offsets.get(at)?).ok();
        self.values.get(end(row)?..end(row + 1)?)
    }
}

/// The range of a buffer in the file, which must lie in its batch's body.
fn place(buffer: &arrow_ipc::Buffer, body: &Range<usize>) -> Result<Range<usize>, String> {
    let range = || {
        let start = body.start.checked_add(usize::try_from(buffer.offset()).ok()?)?;
        let end = start.checked_add(usize::try_from(buffer.length()).ok()?)?;
        (end <= body.end).then_some(start..end)
    };
    range().ok_or_else(|| "a buffer lies outside it".to_owned())
}

/// The whole numbers at a place of a file.
fn numbers<T: ArrowNativeType>(file: &Buffer, place: Range<usize>) -> Result<ScalarBuffer<T>, String> {
    let bytes = file.slice_with_length(place.start, place.len());
    match bytes.as_ptr().align_offset(align_of::<T>()) {
        0 => Ok(ScalarBuffer::from(bytes)),
        _ => Err("its numbers do not lie where they can be read in place".to_owned()),
    }
}
