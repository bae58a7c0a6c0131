//! A record batch as bytes, with each buffer compressed or not as the column requires.

use arrow_ipc::writer::EncodedData;
use arrow_ipc::{
    BodyCompressionBuilder, BodyCompressionMethod, Buffer, CompressionType, FieldNode, MessageBuilder, MessageHeader,
    MetadataVersion, RecordBatchBuilder,
};
use flatbuffers::FlatBufferBuilder;
use zstd::bulk::Compressor;

/// Offsets of buffers are multiples of this.
const ALIGNMENT: usize = 64;

/// The level of zstd. Most of the data are random hexadecimal digits, which no level halves.
const LEVEL: i32 = 1;

/// The prefix of a buffer that is not compressed, in place of its length.
const NOT_COMPRESSED: i64 = -1;

/// A record batch that is being made: its columns one after another, each with its buffers in Arrow's order.
///
/// Arrow's own writer compresses all buffers of a batch or none. The format allows a choice for each (`Message.fbs`,
/// `BodyCompressionMethod.BUFFER`): a buffer is its uncompressed length in eight bytes and then zstd's frame, or -1 and
/// then its bytes.
pub struct BatchBody {
    compressor: Compressor<'static>,
    bytes: Vec<u8>,
    nodes: Vec<FieldNode>,
    buffers: Vec<Buffer>,
    rows: usize,
}

impl BatchBody {
    /// An empty one.
    ///
    /// # Errors
    /// zstd has no memory.
    pub fn new() -> std::io::Result<Self> {
        let compressor = Compressor::new(LEVEL)?;
        Ok(BatchBody { compressor, bytes: Vec::new(), nodes: Vec::new(), buffers: Vec::new(), rows: 0 })
    }

    /// Begins a column of `rows` values, none of which is null. Its buffers follow.
    pub fn column(&mut self, rows: usize) {
        self.begin(rows, 0);
        self.end(self.bytes.len());
    }

    /// Begins a column of `rows` values of which `nulls` are null; `valid` has a bit for each value.
    pub fn nullable_column(&mut self, rows: usize, nulls: usize, valid: &[u8]) -> std::io::Result<()> {
        self.begin(rows, nulls);
        self.compressed(valid)
    }

    fn begin(&mut self, rows: usize, nulls: usize) {
        if self.nodes.is_empty() {
            self.rows = rows;
        }
        self.nodes.push(FieldNode::new(rows as i64, nulls as i64));
    }

    /// Adds a buffer that is read where it lies.
    pub fn in_place(&mut self, bytes: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&NOT_COMPRESSED.to_le_bytes());
        self.bytes.extend_from_slice(bytes);
        self.end(start);
    }

    /// Adds a buffer, compressed where that makes it smaller.
    ///
    /// # Errors
    /// zstd has no memory.
    pub fn compressed(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        if bytes.is_empty() {
            self.end(self.bytes.len());
            return Ok(());
        }
        let compressed = self.compressor.compress(bytes)?;
        if compressed.len() >= bytes.len() {
            self.in_place(bytes);
            return Ok(());
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&(bytes.len() as i64).to_le_bytes());
        self.bytes.extend_from_slice(&compressed);
        self.end(start);
        Ok(())
    }

    fn end(&mut self, start: usize) {
        self.buffers.push(Buffer::new(start as i64, (self.bytes.len() - start) as i64));
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
    }

    /// The record batch; this is empty afterwards.
    pub fn take(&mut self) -> EncodedData {
        let mut builder = FlatBufferBuilder::new();
        let nodes = builder.create_vector(&std::mem::take(&mut self.nodes));
        let buffers = builder.create_vector(&std::mem::take(&mut self.buffers));
        let compression = {
            let mut compression = BodyCompressionBuilder::new(&mut builder);
            compression.add_codec(CompressionType::ZSTD);
            compression.add_method(BodyCompressionMethod::BUFFER);
            compression.finish()
        };
        let batch = {
            let mut batch = RecordBatchBuilder::new(&mut builder);
            batch.add_length(self.rows as i64);
            batch.add_nodes(nodes);
            batch.add_buffers(buffers);
            batch.add_compression(compression);
            batch.finish()
        };
        let mut message = MessageBuilder::new(&mut builder);
        message.add_version(MetadataVersion::V5);
        message.add_header_type(MessageHeader::RecordBatch);
        message.add_bodyLength(self.bytes.len() as i64);
        message.add_header(batch.as_union_value());
        let message = message.finish();
        builder.finish(message, None);
        EncodedData { ipc_message: builder.finished_data().to_vec(), arrow_data: std::mem::take(&mut self.bytes) }
    }
}
