//! A record on its way to its name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Store;
use super::record::ActionRecord;
use super::record_file::RecordFile;
use cwm_core::files::Result;
use cwm_core::files::durable::Temporary;

/// A record that is written, but is neither on the disk for good nor has its name.
pub(super) struct StagedRecord<'store> {
    store: &'store Store,
    file: Temporary<'store>,
    folder: PathBuf,
    shard: PathBuf,
    name: String,
}

impl<'store> StagedRecord<'store> {
    /// Writes the record, numbered so, aside.
    pub fn new(store: &'store Store, record: &ActionRecord, number: u32) -> Result<Self> {
        let bytes = record.encode()?;
        let (_, file) = store.disk.write_unsynced(&store.layout.temporary(), &bytes)?;
        store.disk.protect(file.path())?;
        let (folder, shard) = (store.layout.action_folder(&record.key), store.layout.action_shard(&record.key));
        Ok(StagedRecord { store, file, folder, shard, name: RecordFile::name(number, &bytes) })
    }

    /// Where it is now.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Gives it its name, for good; where. Its content, and all that it names, is on the disk before this.
    pub fn place(self) -> Result<PathBuf> {
        let disk = &self.store.disk;
        disk.make_folder(&self.folder)?;
        let place = self.folder.join(&self.name);
        self.file.place(&place)?;
        // The shard also if the folder was there: whoever made it may not have come to this.
        disk.sync_together(&[], &BTreeSet::from([self.folder, self.shard]))?;
        Ok(place)
    }
}
