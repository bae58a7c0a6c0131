//! Arrow IPC files, written one after another into a folder.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use arrow_ipc::convert::IpcSchemaEncoder;
use arrow_ipc::writer::{DictionaryTracker, EncodedData, IpcDataGenerator, IpcWriteOptions, write_message};
use arrow_ipc::{Block, FooterBuilder, MetadataVersion};
use arrow_schema::{ArrowError, Schema};
use flatbuffers::FlatBufferBuilder;

use super::ShardError;
use super::body::BatchBody;
use super::columns::Labels;
use super::format::{MAX_VALUE_LENGTH, ShardFormat};
use super::labels;

/// The first bytes of a file, up to where the first message begins, and without its zeros the last ones.
const MAGIC: [u8; 64] = {
    let mut magic = [0; 64];
    magic.split_at_mut(6).0.copy_from_slice(b"ARROW1");
    magic
};

/// The marker after the last message of a file.
const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// Writes record batches into files of at most so many rows.
pub struct ShardFiles {
    format: &'static ShardFormat,
    schema: Schema,
    folder: PathBuf,
    /// Rows of a full file, at least 1.
    shard_rows: u64,
    rows_left: u64,
    shards: usize,
    body: BatchBody,
    /// The column of labels, if the files have one.
    labels: Option<Labels>,
    open: Option<(PathBuf, ArrowFile)>,
}

impl ShardFiles {
    /// Makes the folder.
    pub fn create(format: &'static ShardFormat, folder: &Path, shard_rows: u64) -> Result<Self, ShardError> {
        std::fs::create_dir_all(folder).map_err(ShardError::io("make", folder))?;
        let (folder, shard_rows) = (folder.to_owned(), shard_rows.max(1));
        let body = BatchBody::new().map_err(ShardError::io("write", &folder))?;
        let (schema, labels) = (format.schema(false), None);
        Ok(ShardFiles {
            format,
            schema,
            folder,
            shard_rows,
            rows_left: shard_rows,
            shards: 0,
            body,
            labels,
            open: None,
        })
    }

    /// Sets whether the files have a column of labels; before the first batch.
    pub fn set_labelled(&mut self, labelled: bool) {
        self.schema = self.format.schema(labelled);
        self.labels = labelled.then(Labels::default);
    }

    /// Returns the largest number of rows that the next batch may have without crossing the end of a file.
    pub fn rows_left(&self) -> u64 {
        self.rows_left
    }

    /// Checks that a game fits the format, adds its labels to their column and returns the bytes that it then holds.
    pub fn reserve(
        &mut self,
        game: u64,
        texts: &[&str],
        list: &[u16],
        labels: Option<&[u8]>,
    ) -> Result<usize, ShardError> {
        let unfit = |message| ShardError::ExceedsFormat { folder: self.folder.clone(), game, message };
        if let Some(text) = texts.iter().find(|text| text.len() > MAX_VALUE_LENGTH) {
            return Err(unfit(format!("a text of {} bytes is longer than {MAX_VALUE_LENGTH}", text.len())));
        }
        if list.len() > MAX_VALUE_LENGTH {
            return Err(unfit(format!("its {} moves are more than {MAX_VALUE_LENGTH}", list.len())));
        }
        if let Some(labels) = labels {
            labels::check(labels, list.len() + self.format.positions_beyond_list).map_err(unfit)?;
        }
        match (&mut self.labels, labels) {
            (Some(column), labels) => {
                column.push(labels);
                Ok(column.size())
            }
            (None, None) => Ok(0),
            (None, Some(_)) => Err(unfit("it carries labels, for which there is no column".to_owned())),
        }
    }

    /// Writes a batch of at most [`ShardFiles::rows_left`] rows: its columns as `write` puts them, then labels.
    pub fn write(
        &mut self,
        rows: usize,
        write: impl FnOnce(&mut BatchBody) -> std::io::Result<()>,
    ) -> Result<(), ShardError> {
        let filled = write(&mut self.body).and_then(|()| match &mut self.labels {
            Some(labels) => labels.write(&mut self.body),
            None => Ok(()),
        });
        filled.map_err(ShardError::io("write", &self.folder))?;
        let batch = self.body.take();
        let (path, file) = self.open()?;
        file.write(batch).map_err(ShardError::writing(path))?;
        self.rows_left = self.rows_left.saturating_sub(rows as u64);
        if self.rows_left == 0 {
            self.close()?;
        }
        Ok(())
    }

    /// Ends the last file; a folder always has at least one.
    pub fn finish(mut self) -> Result<(), ShardError> {
        if self.shards == 0 {
            self.open()?;
        }
        self.close()
    }

    fn open(&mut self) -> Result<(&Path, &mut ArrowFile), ShardError> {
        if self.open.is_none() {
            let path = self.folder.join(self.format.file_name(self.shards));
            let file = File::create_new(&path).map_err(ShardError::io("make", &path))?;
            let file = ArrowFile::begin(file, &self.schema).map_err(ShardError::writing(&path))?;
            self.shards += 1;
            self.rows_left = self.shard_rows;
            self.open = Some((path, file));
        }
        match &mut self.open {
            Some((path, file)) => Ok((path, file)),
            None => unreachable!("opened above"),
        }
    }

    fn close(&mut self) -> Result<(), ShardError> {
        if let Some((path, file)) = self.open.take() {
            file.finish(&self.schema).map_err(ShardError::writing(&path))?;
        }
        self.rows_left = self.shard_rows;
        Ok(())
    }
}

/// An Arrow IPC file: magic, schema, record batches, and a footer that says where they are.
struct ArrowFile {
    file: BufWriter<File>,
    options: IpcWriteOptions,
    blocks: Vec<Block>,
    /// Bytes written.
    length: usize,
}

impl ArrowFile {
    fn begin(file: File, schema: &Schema) -> Result<Self, ArrowError> {
        let mut file = BufWriter::new(file);
        file.write_all(&MAGIC)?;
        let options = IpcWriteOptions::default();
        let message = IpcDataGenerator::default().schema_to_bytes_with_dictionary_tracker(
            schema,
            &mut DictionaryTracker::new(true),
            &options,
        );
        let (header, body) = write_message(&mut file, message, &options)?;
        Ok(ArrowFile { file, options, blocks: Vec::new(), length: MAGIC.len() + header + body })
    }

    fn write(&mut self, batch: EncodedData) -> Result<(), ArrowError> {
        let (header, body) = write_message(&mut self.file, batch, &self.options)?;
        self.blocks.push(Block::new(self.length as i64, header as i32, body as i64));
        self.length += header + body;
        Ok(())
    }

    fn finish(mut self, schema: &Schema) -> Result<(), ArrowError> {
        let mut builder = FlatBufferBuilder::new();
        let blocks = builder.create_vector(&self.blocks);
        let dictionaries = builder.create_vector::<Block>(&[]);
        let schema = IpcSchemaEncoder::new().schema_to_fb_offset(&mut builder, schema);
        let mut footer = FooterBuilder::new(&mut builder);
        footer.add_version(MetadataVersion::V5);
        footer.add_schema(schema);
        footer.add_dictionaries(dictionaries);
        footer.add_recordBatches(blocks);
        let footer = footer.finish();
        builder.finish(footer, None);
        let footer = builder.finished_data();
        self.file.write_all(&END)?;
        self.file.write_all(footer)?;
        self.file.write_all(&(footer.len() as i32).to_le_bytes())?;
        self.file.write_all(&MAGIC[..6])?;
        self.file.flush()?;
        Ok(())
    }
}
