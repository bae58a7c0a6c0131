//! Writes a folder of sequences.

use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, ListArray, RecordBatch, StringArray, UInt16Array};
use arrow_buffer::OffsetBuffer;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, SchemaRef};
use cwm_contract::Failure;

use crate::format::{file_name, item, schema};
use crate::{Sequence, Vocabulary};

/// Rows of a record batch, at most.
const BATCH_ROWS: usize = 16_384;

/// Tokens after which a record batch is full. Arrow's offsets end at 2^31, far above.
const BATCH_TOKENS: usize = 1 << 24;

/// Writes sequences in the order in which they come.
pub struct SequencesWriter {
    folder: PathBuf,
    vocabulary: Vocabulary,
    schema: SchemaRef,
    shard_rows: u64,
    /// Files begun.
    shards: usize,
    /// Rows of the open file, those of the batch included.
    rows: u64,
    open: Option<(PathBuf, FileWriter<BufWriter<fs_err::File>>)>,
    batch: Batch,
}

/// Rows that are written together.
#[derive(Default)]
struct Batch {
    ids: Vec<String>,
    lengths: Vec<usize>,
    tokens: Vec<u16>,
    targets: Vec<u16>,
}

impl SequencesWriter {
    /// Makes the folder; each file will have at most `shard_rows` rows.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn create(folder: &Path, vocabulary: &Vocabulary, shard_rows: u64) -> Result<Self, Failure> {
        fs_err::create_dir_all(folder)?;
        Ok(SequencesWriter {
            folder: folder.to_owned(),
            vocabulary: vocabulary.clone(),
            schema: Arc::new(schema(vocabulary)?),
            shard_rows: shard_rows.max(1),
            shards: 0,
            rows: 0,
            open: None,
            batch: Batch::default(),
        })
    }

    /// Adds a sequence.
    ///
    /// # Errors
    /// An operation on the disk fails; or a mistake of the caller's: a number is not of the vocabulary, or there are not as
    /// many targets as tokens.
    pub fn push(&mut self, sequence: Sequence<'_>) -> Result<(), Failure> {
        sequence
            .check(&self.vocabulary)
            .map_err(|wrong| Failure::internal(format!("sequence {:?}: {wrong}", sequence.id)))?;
        self.batch.ids.push(sequence.id.to_owned());
        self.batch.lengths.push(sequence.tokens.len());
        self.batch.tokens.extend_from_slice(sequence.tokens);
        self.batch.targets.extend_from_slice(sequence.targets);
        self.rows += 1;
        let is_full = self.batch.ids.len() >= BATCH_ROWS || self.batch.tokens.len() >= BATCH_TOKENS;
        if is_full || self.rows >= self.shard_rows {
            self.flush()?;
        }
        if self.rows >= self.shard_rows { self.close() } else { Ok(()) }
    }

    /// Writes what is left and ends the last file; a folder always has at least one.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.flush()?;
        if self.shards == 0 {
            self.file()?;
        }
        self.close()
    }

    fn flush(&mut self) -> Result<(), Failure> {
        if self.batch.ids.is_empty() {
            return Ok(());
        }
        let columns = std::mem::take(&mut self.batch).columns();
        let batch = RecordBatch::try_new(self.schema.clone(), columns);
        let batch = batch.map_err(|error| Failure::internal(error.to_string()))?;
        let (path, file) = self.file()?;
        file.write(&batch).map_err(|error| failure(path, &error))
    }

    fn file(&mut self) -> Result<(&Path, &mut FileWriter<BufWriter<fs_err::File>>), Failure> {
        if self.open.is_none() {
            let path = self.folder.join(file_name(self.shards));
            let file = BufWriter::new(fs_err::File::create_new(&path)?);
            let file = FileWriter::try_new(file, &self.schema).map_err(|error| failure(&path, &error))?;
            self.shards += 1;
            self.open = Some((path, file));
        }
        match &mut self.open {
            Some((path, file)) => Ok((path, file)),
            None => unreachable!("opened above"),
        }
    }

    fn close(&mut self) -> Result<(), Failure> {
        self.rows = 0;
        match self.open.take() {
            Some((path, mut file)) => file.finish().map_err(|error| failure(&path, &error)),
            None => Ok(()),
        }
    }
}

impl Batch {
    fn columns(self) -> Vec<ArrayRef> {
        let list = |numbers: Vec<u16>| {
            let offsets = OffsetBuffer::from_lengths(self.lengths.iter().copied());
            ListArray::new(item(), offsets, Arc::new(UInt16Array::from(numbers)), None)
        };
        vec![
            Arc::new(StringArray::from_iter_values(&self.ids)),
            Arc::new(list(self.tokens)),
            Arc::new(list(self.targets)),
        ]
    }
}

fn failure(path: &Path, error: &ArrowError) -> Failure {
    Failure::system(format!("cannot write {}: {error}", path.display()))
}
