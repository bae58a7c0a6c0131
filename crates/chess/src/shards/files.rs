//! Arrow IPC files in a folder: written one after another, read through memory maps.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufWriter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::root_as_footer;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{Field, Schema, SchemaRef};
use cwm_encoding::LABELS;
use memmap2::Mmap;

use super::ShardError;
use super::columns::{Labels, labels_field};

/// A format of shards: its name, which is also the beginning of its files' names, its version and its columns.
pub struct ShardFormat {
    pub name: &'static str,
    pub version: u32,
    pub fields: Vec<Field>,
    /// Whether a column of labels stands behind these.
    pub labelled: bool,
}

impl ShardFormat {
    /// The schema with the metadata that name format and version.
    pub fn schema(&self) -> SchemaRef {
        let metadata = HashMap::from([
            ("cwm.format".to_owned(), self.name.to_owned()),
            ("cwm.version".to_owned(), self.version.to_string()),
        ]);
        Arc::new(Schema::new_with_metadata(self.columns(), metadata))
    }

    fn columns(&self) -> Vec<Field> {
        self.fields.iter().cloned().chain(self.labelled.then(labels_field)).collect()
    }

    fn file_name(&self, shard: usize) -> String {
        format!("{}-{shard:05}.arrow", self.name)
    }

    fn content(&self, path: &Path, message: impl ToString) -> ShardError {
        ShardError::Content { format: self.name, path: path.to_owned(), message: message.to_string() }
    }
}

/// Writes record batches into files of at most so many rows.
pub struct ShardFiles {
    format: ShardFormat,
    schema: SchemaRef,
    folder: PathBuf,
    /// Rows of a full file, at least 1.
    shard_rows: u64,
    rows_left: u64,
    shards: usize,
    open: Option<(PathBuf, FileWriter<BufWriter<File>>)>,
}

impl ShardFiles {
    /// Makes the folder.
    pub fn create(format: ShardFormat, folder: &Path, shard_rows: u64) -> Result<Self, ShardError> {
        std::fs::create_dir_all(folder).map_err(ShardError::io("make", folder))?;
        let schema = format.schema();
        let shard_rows = shard_rows.max(1);
        let folder = folder.to_owned();
        Ok(ShardFiles { format, schema, folder, shard_rows, rows_left: shard_rows, shards: 0, open: None })
    }

    /// Says whether there is a column of labels; before the first batch.
    pub fn set_labelled(&mut self, labelled: bool) {
        self.format.labelled = labelled;
        self.schema = self.format.schema();
    }

    /// Adds the labels of game `game` to their column, if there is one, and returns the bytes that it then holds.
    pub fn push_labels(
        &self,
        column: &mut Option<Labels>,
        game: u64,
        labels: Option<&[u8]>,
        positions: usize,
    ) -> Result<usize, ShardError> {
        let expected = if column.is_some() { positions * LABELS } else { 0 };
        match (column, labels.map_or(expected, <[u8]>::len)) {
            (Some(column), found) if found == expected => {
                column.push(labels);
                Ok(column.size())
            }
            (None, _) if labels.is_none() => Ok(0),
            (_, found) => Err(ShardError::Labels { folder: self.folder.clone(), game, found, expected }),
        }
    }

    /// The schema that batches must have.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// How many rows the next batch may have at most, so that it does not cross the end of a file.
    pub fn rows_left(&self) -> u64 {
        self.rows_left
    }

    /// Writes a batch of at most [`ShardFiles::rows_left`] rows.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), ShardError> {
        let (path, writer) = self.open()?;
        writer.write(batch).map_err(ShardError::writing(path))?;
        self.rows_left = self.rows_left.saturating_sub(batch.num_rows() as u64);
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

    fn open(&mut self) -> Result<(&Path, &mut FileWriter<BufWriter<File>>), ShardError> {
        if self.open.is_none() {
            let path = self.folder.join(self.format.file_name(self.shards));
            let file = File::create_new(&path).map_err(ShardError::io("make", &path))?;
            let writer = FileWriter::try_new_buffered(file, &self.schema).map_err(ShardError::writing(&path))?;
            self.shards += 1;
            self.rows_left = self.shard_rows;
            self.open = Some((path, writer));
        }
        match &mut self.open {
            Some((path, writer)) => Ok((path, writer)),
            None => unreachable!("opened above"),
        }
    }

    fn close(&mut self) -> Result<(), ShardError> {
        if let Some((path, mut writer)) = self.open.take() {
            writer.finish().map_err(ShardError::writing(&path))?;
        }
        self.rows_left = self.shard_rows;
        Ok(())
    }
}

/// All record batches of a folder in order, each with the file that it comes from. Nothing is copied: the arrays lie
/// in the mapped files.
pub fn read(format: &ShardFormat, folder: &Path) -> Result<Vec<(PathBuf, RecordBatch)>, ShardError> {
    let mut batches = Vec::new();
    for shard in 0..count(format, folder)? {
        let path = folder.join(format.file_name(shard));
        for batch in read_file(format, &path)? {
            batches.push((path.clone(), batch));
        }
    }
    Ok(batches)
}

/// How many shards the folder has; their numbers must be without a gap.
fn count(format: &ShardFormat, folder: &Path) -> Result<usize, ShardError> {
    let mut shards = 0;
    for entry in std::fs::read_dir(folder).map_err(ShardError::io("read", folder))? {
        let name = entry.map_err(ShardError::io("read", folder))?.file_name();
        let name = name.to_string_lossy();
        shards += usize::from(name.starts_with(&format!("{}-", format.name)) && name.ends_with(".arrow"));
    }
    for shard in 0..shards.max(1) {
        let name = format.file_name(shard);
        if !folder.join(&name).exists() {
            return Err(ShardError::Missing { folder: folder.to_owned(), name });
        }
    }
    Ok(shards)
}

fn read_file(format: &ShardFormat, path: &Path) -> Result<Vec<RecordBatch>, ShardError> {
    let buffer = map(path)?;
    // Arrow's decoder panics on some damaged headers; a damaged file must not look like a fault of ours.
    catch_unwind(AssertUnwindSafe(|| decode(format, path, &buffer)))
        .unwrap_or_else(|_| Err(format.content(path, "its headers are damaged")))
}

fn decode(format: &ShardFormat, path: &Path, buffer: &Buffer) -> Result<Vec<RecordBatch>, ShardError> {
    let wrong = |message: &str| format.content(path, message);
    let trailer = buffer.len().checked_sub(10).ok_or_else(|| wrong("it is too short"))?;
    let mut end = [0; 10];
    end.copy_from_slice(&buffer[trailer..]);
    let footer_length = read_footer_length(end).map_err(|error| format.content(path, error))?;
    let footer_start = trailer.checked_sub(footer_length).ok_or_else(|| wrong("its footer is too long"))?;
    let footer = root_as_footer(&buffer[footer_start..trailer]).map_err(|error| format.content(path, error))?;
    let schema = footer.schema().ok_or_else(|| wrong("it has no schema"))?;
    let schema = Arc::new(fb_to_schema(schema));
    check_schema(format, path, &schema)?;
    let decoder = FileDecoder::new(schema, footer.version()).with_require_alignment(true);
    let mut batches = Vec::new();
    for block in footer.recordBatches().iter().flatten() {
        let range = usize::try_from(block.offset()).ok().zip(
            usize::try_from(block.bodyLength())
                .ok()
                .zip(usize::try_from(block.metaDataLength()).ok())
                .and_then(|(body, metadata)| body.checked_add(metadata)),
        );
        let Some((offset, length)) =
            range.filter(|(offset, length)| offset.checked_add(*length).is_some_and(|end| end <= footer_start))
        else {
            return Err(wrong("a record batch lies outside the file"));
        };
        let data = buffer.slice_with_length(offset, length);
        let batch = decoder.read_record_batch(block, &data).map_err(|error| format.content(path, error))?;
        batches.extend(batch);
    }
    Ok(batches)
}

fn check_schema(format: &ShardFormat, path: &Path, schema: &Schema) -> Result<(), ShardError> {
    let metadata = |key: &str| schema.metadata().get(key).map(String::as_str);
    let found = metadata("cwm.version").and_then(|version| version.parse::<u32>().ok());
    let (Some(name), Some(found)) = (metadata("cwm.format"), found) else {
        return Err(format.content(path, "its metadata lack `cwm.format` or `cwm.version`"));
    };
    if name != format.name {
        return Err(format.content(path, format!("it says that it is a {name} file")));
    }
    if found > format.version {
        let path = path.to_owned();
        return Err(ShardError::Newer { format: format.name, path, found, known: format.version });
    }
    if found < format.version {
        let path = path.to_owned();
        return Err(ShardError::Older { format: format.name, path, found, known: format.version });
    }
    let expected = Schema::new(format.fields.clone());
    let fields = match schema.fields().split_last() {
        Some((last, before)) if **last == labels_field() => before,
        _ => schema.fields(),
    };
    if fields != &expected.fields()[..] {
        return Err(format.content(path, format!("its columns are {}, not {}", list(schema), list(&expected))));
    }
    Ok(())
}

fn list(schema: &Schema) -> String {
    let columns: Vec<String> =
        schema.fields().iter().map(|field| format!("{} {}", field.name(), field.data_type())).collect();
    columns.join(", ")
}

fn map(path: &Path) -> Result<Buffer, ShardError> {
    let file = File::open(path).map_err(ShardError::io("read", path))?;
    // SAFETY: the map is private to this process and only read. The files are immutable by contract (a stage's inputs
    // are finished objects of the store, mode 0444); whoever truncates one under a running stage ends that stage.
    let map = unsafe { Mmap::map(&file) }.map_err(ShardError::io("read", path))?;
    let map = Arc::new(map);
    let start = NonNull::from(&map[..]).cast::<u8>();
    let length = map.len();
    // SAFETY: `start` and `length` are the bytes of the map, which the buffer keeps alive and nobody writes.
    Ok(unsafe { Buffer::from_custom_allocation(start, length, map) })
}
