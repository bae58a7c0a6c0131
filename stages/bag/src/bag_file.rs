//! A file of records, as ChessBench has them (Bagz without compression).
//!
//! Records lie one after the other; then the end of each, as a 64-bit number in little-endian order. So the last eight
//! bytes are both the end of the last record and the place where the list of ends begins.

use std::fs::File;
use std::path::Path;

use cwm_contract::Failure;
use memmap2::Mmap;

/// Bytes of an entry of the list of ends.
const ENTRY: usize = size_of::<u64>();

/// A file of records, mapped into memory.
pub struct BagFile {
    map: Mmap,
    /// The offset at which the list of ends begins.
    list: usize,
    count: usize,
}

impl BagFile {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// It cannot be read, has no records, or its list of ends is damaged.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let not_a_bag = |what: &str| {
            Failure::input(format!("{} is not a bag file: {what}", path.display())).hint("get the whole file again")
        };
        let file = File::open(path).map_err(|error| Failure::io("read", path, error))?;
        let length = file.metadata().map_err(|error| Failure::io("read", path, error))?.len();
        if length == 0 {
            return Err(not_a_bag("it is empty"));
        }
        // SAFETY: artifacts are read-only, and nobody changes them while a stage reads them.
        let map = unsafe { Mmap::map(&file) }.map_err(|error| Failure::io("read", path, error))?;
        let last = map.len().checked_sub(ENTRY).ok_or_else(|| not_a_bag("it has fewer than 8 bytes"))?;
        let list = usize::try_from(entry(&map, last)).ok().filter(|&list| list <= last);
        let list = list.ok_or_else(|| not_a_bag("its list of records would begin beyond its end; it may be cut"))?;
        if (map.len() - list) % ENTRY != 0 {
            return Err(not_a_bag("its list of records has a broken entry; it may be cut"));
        }
        let count = (map.len() - list) / ENTRY;
        let bag = BagFile { map, list, count };
        let mut before = 0;
        for index in 0..count {
            match bag.end(index) {
                Some(end) if end >= before => before = end,
                Some(_) => return Err(not_a_bag(&format!("the list of ends is out of order at record {}", index + 1))),
                None => return Err(not_a_bag(&format!("the end of record {} lies beyond all records", index + 1))),
            }
        }
        Ok(bag)
    }

    /// Number of records.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The bytes of a record; `None` from [`BagFile::count`] on.
    pub fn record(&self, index: usize) -> Option<&[u8]> {
        let begin = if index == 0 { 0 } else { self.end(index - 1)? };
        self.map.get(begin..self.end(index)?)
    }

    fn end(&self, index: usize) -> Option<usize> {
        if index >= self.count {
            return None;
        }
        usize::try_from(entry(&self.map, self.list + index * ENTRY)).ok().filter(|&end| end <= self.list)
    }
}

fn entry(bytes: &[u8], at: usize) -> u64 {
    let entry: [u8; ENTRY] = bytes[at..at + ENTRY].try_into().expect("a range of eight bytes");
    u64::from_le_bytes(entry)
}
