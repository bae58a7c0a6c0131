//! A record that is written to a temporary file and not yet renamed to its final name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Store;
use super::record_file::RecordFile;
use cwm_core::Key;
use cwm_core::files::Result;
use cwm_core::files::durable::Temporary;

/// A record that is written to a temporary file, but is neither synced nor renamed.
pub(super) struct StagedRecord<'store> {
    store: &'store Store,
    file: Temporary<'store>,
    folder: PathBuf,
    shard: PathBuf,
    destination: PathBuf,
}

impl<'store> StagedRecord<'store> {
    /// Writes the bytes of a record of `key` to a temporary file.
    pub fn new(store: &'store Store, key: &Key, number: u32, bytes: &[u8]) -> Result<Self> {
        let (_, file) = store.disk.write_unsynced(&store.layout.temporary(), bytes)?;
        store.disk.protect(file.path())?;
        let (folder, shard) = (store.layout.action_folder(key), store.layout.action_shard(key));
        let destination = folder.join(RecordFile::name(number, bytes));
        Ok(StagedRecord { store, file, folder, shard, destination })
    }

    /// The path of the temporary file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The path that [`StagedRecord::place`] gives the record.
    pub fn destination(&self) -> &Path {
        &self.destination
    }

    /// Gives the record its name, durably, and returns its path. Its content, and all that it names, is on the disk before this.
    pub fn place(self) -> Result<PathBuf> {
        let disk = &self.store.disk;
        disk.make_folder(&self.folder)?;
        self.file.place(&self.destination)?;
        // The shard also if the folder was there: whoever made it may not have come to this.
        disk.sync_together(&[], &BTreeSet::from([self.folder, self.shard]))?;
        Ok(self.destination)
    }
}
