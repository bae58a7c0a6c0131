//! What jobs can read that do not share the store of the run (`store = "remote"`): everything that they read is with a remote
//! before they are submitted. The rest of the run goes on meanwhile.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::fetch::{InputUploader, UpdateSender, UploadId, UploadItem};
use cwm_core::Key;

/// Uploads what jobs read, each item once.
#[derive(Default)]
pub struct UploadCoordinator {
    uploader: Option<Box<dyn InputUploader>>,
    /// What the remote has.
    present: HashSet<UploadId>,
    in_flight: HashMap<UploadId, PendingUpload>,
    /// How many items each cell waits for.
    open: HashMap<usize, usize>,
}

/// An item that is being uploaded.
pub struct PendingUpload {
    /// The cell that made it; of an external file, one that reads it.
    pub cell: usize,
    /// The key of that cell.
    pub key: Key,
    /// Cells that wait for it.
    pub waiting: BTreeSet<usize>,
}

impl UploadCoordinator {
    /// Uploads by this uploader, if there is one.
    pub fn new(uploader: Option<Box<dyn InputUploader>>) -> Self {
        UploadCoordinator { uploader, ..UploadCoordinator::default() }
    }

    /// Has items uploaded that the cell reads, each with the cell that made it. Returns true if it has to wait for any.
    pub fn request(
        &mut self,
        reader: usize,
        items: Vec<(usize, Key, UploadItem)>,
        updates: impl Fn() -> UpdateSender,
    ) -> bool {
        let Some(uploader) = &self.uploader else { return false };
        for (cell, key, item) in items {
            let id = item.id();
            if self.present.contains(&id) {
                continue;
            }
            let pending = self.in_flight.entry(id).or_insert_with(|| {
                uploader.upload(cell, item, updates());
                PendingUpload { cell, key, waiting: BTreeSet::new() }
            });
            if pending.waiting.insert(reader) {
                *self.open.entry(reader).or_default() += 1;
            }
        }
        self.open.contains_key(&reader)
    }

    /// An upload has ended. Returns what it was.
    pub fn ended(&mut self, id: &UploadId) -> Option<PendingUpload> {
        let ended = self.in_flight.remove(id)?;
        for reader in &ended.waiting {
            let left = self.open.remove(reader).unwrap_or(1) - 1;
            if left > 0 {
                self.open.insert(*reader, left);
            }
        }
        Some(ended)
    }

    /// Returns true if the cell waits for an upload.
    pub fn is_waiting(&self, reader: usize) -> bool {
        self.open.contains_key(&reader)
    }

    /// The remote has this.
    pub fn is_present(&mut self, id: UploadId) {
        self.present.insert(id);
    }

    /// The key of what is being uploaded that this cell made.
    pub fn key_of(&self, cell: usize) -> Option<Key> {
        self.in_flight.values().find(|one| one.cell == cell).map(|one| one.key)
    }
}
