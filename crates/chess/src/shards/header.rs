//! The header of a record batch: where the buffers of its columns lie.

use std::ops::Range;

use arrow_ipc::{BodyCompressionMethod, Buffer, CompressionType, FieldNode, root_as_message};

use super::format::{Kind, ShardFormat};

/// The marker before a message's header; the header's length follows.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// The header of a record batch.
#[derive(Debug)]
pub struct Header {
    /// True if each buffer begins with its length (see [`BatchBody`](super::body::BatchBody)).
    pub compressed: bool,
    /// Number of rows.
    pub rows: usize,
    /// The columns of the format, then the labels if the file has them.
    pub columns: Vec<Column>,
}

/// One column. Buffers are given by their place in the file.
#[derive(Debug)]
pub struct Column {
    /// Its type.
    pub kind: Kind,
    /// Number of values that are null.
    pub nulls: usize,
    /// A bit for each value, if any is null.
    pub valid: Range<usize>,
    /// Numbers; or the offsets of texts, lists and labels.
    pub first: Range<usize>,
    /// The bytes of texts and labels, the numbers of lists.
    pub second: Range<usize>,
    /// Number of numbers in the lists.
    pub items: usize,
}

impl Header {
    /// Reads the header that lies at `header` of a file's bytes; its buffers must lie in `body`.
    ///
    /// # Errors
    /// The problem, as text.
    pub fn read(
        format: &ShardFormat,
        labelled: bool,
        bytes: &[u8],
        header: Range<usize>,
        body: Range<usize>,
    ) -> Result<Self, String> {
        let (mark, rest) = bytes[header].split_first_chunk::<4>().ok_or("its header is too short")?;
        let (length, rest) = rest.split_first_chunk::<4>().ok_or("its header is too short")?;
        let length = usize::try_from(i32::from_le_bytes(*length)).ok().filter(|_| mark == &CONTINUATION);
        let message = length.and_then(|length| rest.get(..length)).ok_or("its header has no length")?;
        let message = root_as_message(message).map_err(|error| format!("its header is damaged: {error}"))?;
        let batch = message.header_as_record_batch().ok_or("it is no record batch")?;
        let compressed = match batch.compression() {
            None => false,
            Some(how) if how.codec() == CompressionType::ZSTD && how.method() == BodyCompressionMethod::BUFFER => true,
            Some(_) => return Err("it is compressed, but not with zstd".to_owned()),
        };
        let mut parts = Parts {
            nodes: batch.nodes().map(|nodes| nodes.iter()).into_iter().flatten(),
            buffers: batch.buffers().map(|buffers| buffers.iter()).into_iter().flatten(),
            body,
        };
        let rows = usize::try_from(batch.length()).map_err(|_| "its number of rows is negative")?;
        let labels = labelled.then_some(Kind::Labels);
        let columns = format.columns.iter().map(|(_, kind)| *kind).chain(labels);
        let columns = columns.map(|kind| parts.column(kind, rows)).collect::<Result<_, _>>()?;
        if parts.nodes.next().is_some() || parts.buffers.next().is_some() {
            return Err("it has more columns than the schema".to_owned());
        }
        Ok(Header { compressed, rows, columns })
    }
}

/// The entries of a header, column by column.
struct Parts<N, B> {
    nodes: N,
    buffers: B,
    /// The range that buffers must lie in.
    body: Range<usize>,
}

impl<'a, N: Iterator<Item = &'a FieldNode>, B: Iterator<Item = &'a Buffer>> Parts<N, B> {
    fn column(&mut self, kind: Kind, rows: usize) -> Result<Column, String> {
        let (length, nulls) = self.node()?;
        if length != rows {
            return Err(format!("a column has {length} rows of {rows}"));
        }
        if nulls > if kind == Kind::Labels { rows } else { 0 } {
            return Err(format!("a column has {nulls} nulls"));
        }
        let (valid, first) = (self.buffer()?, self.buffer()?);
        let (mut second, mut items) = (0..0, 0);
        match kind {
            Kind::Ordinal | Kind::Count => {}
            Kind::Text | Kind::Labels => second = self.buffer()?,
            Kind::List => {
                let nulls;
                (items, nulls) = self.node()?;
                if nulls > 0 {
                    return Err("a list has nulls".to_owned());
                }
                self.buffer()?;
                second = self.buffer()?;
            }
        }
        Ok(Column { kind, nulls, valid, first, second, items })
    }

    /// Values and nulls of the next node.
    fn node(&mut self) -> Result<(usize, usize), String> {
        let node = self.nodes.next().ok_or("it has fewer columns than the schema")?;
        let number = |number: i64| usize::try_from(number).map_err(|_| "a column has a negative length".to_owned());
        Ok((number(node.length())?, number(node.null_count())?))
    }

    /// Returns the range of the next buffer in the file.
    fn buffer(&mut self) -> Result<Range<usize>, String> {
        let buffer = self.buffers.next().ok_or("it has fewer buffers than the schema needs")?;
        let range = || {
            let start = self.body.start.checked_add(usize::try_from(buffer.offset()).ok()?)?;
            let end = start.checked_add(usize::try_from(buffer.length()).ok()?)?;
            (end <= self.body.end).then_some(start..end)
        };
        range().ok_or_else(|| "a buffer lies outside it".to_owned())
    }
}
