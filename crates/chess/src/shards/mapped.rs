//! Arrow IPC files that are mapped into memory: where their record batches lie.

use std::fmt::Display;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_buffer::Buffer;
use arrow_ipc::reader::read_footer_length;
use arrow_ipc::root_as_footer;
use memmap2::{Mmap, UncheckedAdvice};

use super::ShardError;
use super::format::ShardFormat;

/// A mapped file of a folder.
#[derive(Debug)]
pub struct MappedFile {
    /// Its format.
    pub format: &'static ShardFormat,
    /// Its path.
    pub path: PathBuf,
    /// Its bytes.
    pub bytes: Buffer,
    /// True if it has a column of labels.
    pub labelled: bool,
    /// The map that owns the bytes.
    map: Arc<Mmap>,
}

impl MappedFile {
    /// Releases the pages that were read. The system counts them as this process's memory, some 64 KiB or even 2 MiB for
    /// each byte that was looked at, and would let go of them by itself only for want of memory.
    pub fn release_pages(&self) {
        // SAFETY: the map is of a file that nobody writes, so a page that is read again holds the same bytes.
        let advised = unsafe { self.map.unchecked_advise(UncheckedAdvice::DontNeed) };
        // A system that does not take the advice keeps the pages, which is no fault.
        drop(advised);
    }

    /// An error about one of the file's record batches.
    pub fn batch(&self, place: &BatchLocation, message: impl Display) -> ShardError {
        self.format
            .content(&self.path, format!("record batch {} at byte {}: {message}", place.ordinal, place.header.start))
    }
}

/// The location of a record batch in its file.
#[derive(Debug)]
pub struct BatchLocation {
    /// Its ordinal.
    pub ordinal: usize,
    /// Bytes of its header.
    pub header: Range<usize>,
    /// Bytes of its columns, right behind.
    pub body: Range<usize>,
}

/// The record batches of a folder.
pub struct OpenedFolder {
    /// The record batches of all files, in order.
    pub batches: Vec<(Arc<MappedFile>, BatchLocation)>,
    /// True if the files have a column of labels.
    pub labelled: bool,
}

/// Finds the record batches of all files of a folder. Only footers are read.
pub fn open(format: &'static ShardFormat, folder: &Path) -> Result<OpenedFolder, ShardError> {
    let mut batches = Vec::new();
    let mut labelled = None;
    for shard in 0..count(format, folder)? {
        let path = folder.join(format.file_name(shard));
        let file = open_file(format, &path, &mut batches)?;
        if *labelled.get_or_insert(file) != file {
            return Err(format.content(&path, "it has labels and the first file has not, or the other way round"));
        }
    }
    Ok(OpenedFolder { batches, labelled: labelled.unwrap_or_default() })
}

/// Counts the shards of the folder; their numbers must be without a gap.
fn count(format: &ShardFormat, folder: &Path) -> Result<usize, ShardError> {
    let mut shards = 0;
    for entry in std::fs::read_dir(folder).map_err(ShardError::io("read", folder))? {
        let name = entry.map_err(ShardError::io("read", folder))?.file_name();
        shards += usize::from(format.is_shard(&name.to_string_lossy()));
    }
    for shard in 0..shards.max(1) {
        let name = format.file_name(shard);
        if !folder.join(&name).exists() {
            return Err(ShardError::Missing { folder: folder.to_owned(), name });
        }
    }
    Ok(shards)
}

/// Appends the record batches of a file; returns whether it has labels.
fn open_file(
    format: &'static ShardFormat,
    path: &Path,
    batches: &mut Vec<(Arc<MappedFile>, BatchLocation)>,
) -> Result<bool, ShardError> {
    let (bytes, map) = map(path)?;
    let wrong = |message: &str| format.content(path, message);
    let trailer = bytes.len().checked_sub(10).ok_or_else(|| wrong("it is too short"))?;
    let mut end = [0; 10];
    end.copy_from_slice(&bytes[trailer..]);
    let footer_length = read_footer_length(end).map_err(|error| format.content(path, error))?;
    let footer_start = trailer.checked_sub(footer_length).ok_or_else(|| wrong("its footer is too long"))?;
    let shared = bytes.clone();
    let footer = root_as_footer(&shared[footer_start..trailer]).map_err(|error| format.content(path, error))?;
    let schema = footer.schema().ok_or_else(|| wrong("it has no schema"))?;
    let labelled = format.check(path, schema)?;
    let file = Arc::new(MappedFile { format, path: path.to_owned(), bytes, labelled, map });
    for (ordinal, block) in footer.recordBatches().iter().flatten().enumerate() {
        let ranges = ranges(block.offset(), block.metaDataLength(), block.bodyLength(), footer_start);
        let (header, body) =
            ranges.ok_or_else(|| format.content(path, format!("record batch {ordinal} lies outside the file")))?;
        batches.push((file.clone(), BatchLocation { ordinal, header, body }));
    }
    Ok(labelled)
}

/// Returns the ranges of a record batch's header and body, if both end before `end`.
fn ranges(offset: i64, header: i32, body: i64, end: usize) -> Option<(Range<usize>, Range<usize>)> {
    let start = usize::try_from(offset).ok()?;
    let middle = start.checked_add(usize::try_from(header).ok()?)?;
    let stop = middle.checked_add(usize::try_from(body).ok()?)?;
    (stop <= end).then_some((start..middle, middle..stop))
}

fn map(path: &Path) -> Result<(Buffer, Arc<Mmap>), ShardError> {
    let file = File::open(path).map_err(ShardError::io("read", path))?;
    // SAFETY: the map is private to this process and only read. The files are immutable by contract (a stage's inputs
    // are finished objects of the store, mode 0444); truncating one under a running stage ends that stage.
    let map = unsafe { Mmap::map(&file) }.map_err(ShardError::io("read", path))?;
    let map = Arc::new(map);
    let start = NonNull::from(&map[..]).cast::<u8>();
    let length = map.len();
    // SAFETY: `start` and `length` are the bytes of the map, which the buffer keeps alive and nobody writes.
    let bytes = unsafe { Buffer::from_custom_allocation(start, length, map.clone()) };
    Ok((bytes, map))
}
