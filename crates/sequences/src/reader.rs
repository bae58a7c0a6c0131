//! Reads a folder of sequences through a memory map.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_buffer::Buffer;
use arrow_ipc::reader::read_footer_length;
use arrow_ipc::root_as_footer;
use cwm_contract::Failure;
use memmap2::{Mmap, UncheckedAdvice};

use crate::batch::Batch;
use crate::format::{check, file_name, is_shard, wrong_format};
use crate::{Sequence, Vocabulary};

/// A folder of sequences, mapped into memory. Opening it reads headers alone.
#[derive(Debug)]
pub struct Sequences {
    vocabulary: Vocabulary,
    batches: Vec<(Arc<PathBuf>, Batch)>,
    /// Rows before each batch.
    starts: Vec<usize>,
    rows: usize,
    maps: Vec<Arc<Mmap>>,
}

impl Sequences {
    /// Opens a folder.
    ///
    /// # Errors
    /// It cannot be read, it is of another format or version, its files have several vocabularies, or it is damaged where its
    /// batches begin. Damage of a row is reported when it is requested.
    pub fn open(folder: &Path) -> Result<Self, Failure> {
        let mut first: Option<Vocabulary> = None;
        let (mut batches, mut starts, mut rows, mut maps) = (Vec::new(), Vec::new(), 0, Vec::new());
        for shard in 0..count(folder)? {
            let path = Arc::new(folder.join(file_name(shard)));
            let map = map(&path)?;
            let (vocabulary, found) = open_file(&path, &buffer(&map))?;
            maps.push(map);
            if first.get_or_insert_with(|| vocabulary.clone()) != &vocabulary {
                return Err(wrong_format(&path, "its vocabulary is not that of the first file"));
            }
            for batch in found.into_iter().filter(|batch| batch.len() > 0) {
                starts.push(rows);
                rows += batch.len();
                batches.push((path.clone(), batch));
            }
        }
        let vocabulary = first.ok_or_else(|| Failure::internal("a folder of sequences without a file"))?;
        Ok(Sequences { vocabulary, batches, starts, rows, maps })
    }

    /// The meaning of the numbers.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Number of sequences.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The sequence at place `row`, counted over all files from 0, where it lies in its file; `None` behind the last.
    ///
    /// # Errors
    /// It is damaged.
    pub fn get(&self, row: usize) -> Result<Option<Sequence<'_>>, Failure> {
        if row >= self.rows {
            return Ok(None);
        }
        let at = self.starts.partition_point(|&start| start <= row) - 1;
        let (path, batch) = &self.batches[at];
        let sequence = batch.row(row - self.starts[at]);
        let checked = sequence.and_then(|sequence| sequence.check(&self.vocabulary).map(|()| sequence));
        checked.map(Some).map_err(|wrong| wrong_format(path, format!("row {row} of its folder: {wrong}")))
    }

    /// Releases the pages of the files that were read, which the system counts as this process's memory: they are read anew
    /// when they are wanted.
    pub fn release_pages(&self) {
        for map in &self.maps {
            // SAFETY: the map is of a file that nobody writes, so a page that is read again holds the same bytes.
            let advised = unsafe { map.unchecked_advise(UncheckedAdvice::DontNeed) };
            // A system that does not take the advice keeps the pages, which is no fault.
            drop(advised);
        }
    }

    /// All sequences in order.
    pub fn iter(&self) -> impl Iterator<Item = Result<Sequence<'_>, Failure>> {
        (0..self.rows).map(|row| {
            let sequence = self.get(row)?;
            sequence.ok_or_else(|| Failure::internal(format!("there is no sequence {row}")))
        })
    }
}

/// Counts the shards of the folder; their numbers must be without a gap.
fn count(folder: &Path) -> Result<usize, Failure> {
    let mut shards = 0;
    for entry in fs_err::read_dir(folder)? {
        shards += usize::from(is_shard(&entry?.file_name().to_string_lossy()));
    }
    let shards = shards.max(1);
    match (0..shards).map(file_name).find(|name| !folder.join(name).exists()) {
        Some(name) => Err(Failure::input(format!("{} holds no {name}", folder.display()))),
        None => Ok(shards),
    }
}

/// The vocabulary and the record batches of a file.
fn open_file(path: &Path, file: &Buffer) -> Result<(Vocabulary, Vec<Batch>), Failure> {
    let trailer = file.len().checked_sub(10).ok_or_else(|| wrong_format(path, "it is too short"))?;
    let mut end = [0; 10];
    end.copy_from_slice(&file[trailer..]);
    let length = read_footer_length(end).map_err(|error| wrong_format(path, error))?;
    let start = trailer.checked_sub(length).ok_or_else(|| wrong_format(path, "its footer is too long"))?;
    let footer = root_as_footer(&file[start..trailer]).map_err(|error| wrong_format(path, error))?;
    let schema = footer.schema().ok_or_else(|| wrong_format(path, "it has no schema"))?;
    let vocabulary = check(schema).map_err(|wrong| wrong_format(path, wrong))?;
    let blocks = footer.recordBatches().into_iter().flatten().enumerate();
    let batch = |(ordinal, block): (usize, &arrow_ipc::Block)| {
        let place = place(block, start).ok_or_else(|| "it lies outside the file".to_owned());
        let batch = place.and_then(|(header, body)| Batch::open(file, header, body));
        batch.map_err(|wrong| wrong_format(path, format!("record batch {ordinal}: {wrong}")))
    };
    Ok((vocabulary, blocks.map(batch).collect::<Result<_, _>>()?))
}

/// The ranges of a record batch's header and body, if both end before `end`.
fn place(block: &arrow_ipc::Block, end: usize) -> Option<(Range<usize>, Range<usize>)> {
    let start = usize::try_from(block.offset()).ok()?;
    let middle = start.checked_add(usize::try_from(block.metaDataLength()).ok()?)?;
    let stop = middle.checked_add(usize::try_from(block.bodyLength()).ok()?)?;
    (stop <= end).then_some((start..middle, middle..stop))
}

fn map(path: &Path) -> Result<Arc<Mmap>, Failure> {
    let file = fs_err::File::open(path)?;
    // SAFETY: the map is private to this process and only read. The files are immutable by contract (a stage's inputs
    // are finished objects of the store, mode 0444); truncating one under a running stage ends that stage.
    let map = unsafe { Mmap::map(file.file()) }.map_err(|error| Failure::io("read", path, error))?;
    Ok(Arc::new(map))
}

/// The bytes of a map.
fn buffer(map: &Arc<Mmap>) -> Buffer {
    let start = NonNull::from(&map[..]).cast::<u8>();
    // SAFETY: `start` and the length are the bytes of the map, which the buffer keeps alive and nobody writes.
    unsafe { Buffer::from_custom_allocation(start, map.len(), map.clone()) }
}
