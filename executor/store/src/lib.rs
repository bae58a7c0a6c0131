//! The store: results by the hash of what they depend on, content by its own hash.
//!
//! It depends on digests, keys and files, not on YAML, plans or stages. `docs/design/store.md` lists its files.
//! At any instant, also after `kill -9` or a power loss, a store is valid and has lost only unfinished work:
//! [`durable`] has the order of writes, [`commit`] keeps it. Reading needs no lock and works on a read-only store.

mod cache_file;
mod commit;
mod compare;
mod completeness;
mod damage;
mod eviction;
mod export;
mod external_files;
mod garbage;
mod hashing;
mod import;
mod inventory;
mod layout;
mod locks;
mod manifest;
mod mtime_seal;
mod objects;
mod output_snapshot;
mod partial_object;
mod record;
mod record_cache;
mod records;
#[cfg(test)]
mod tests;
mod trees;
mod untrusted_record;
mod verify;
mod walk;
mod work;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use commit::{NewAction, NewOutput, OutputContent, RecordedAction};
pub use compare::{Difference, DifferenceKind};
pub use completeness::MissingContent;
pub use damage::{Damage, Defect};
pub use eviction::EvictionReason;
pub use export::ExportOutcome;
pub use external_files::{DigestCache, FileFingerprint};
pub use garbage::{Garbage, StaleTemporary, bytes_below};
pub use hashing::{hash_own_file, read_own_file};
pub use import::LARGEST_MANIFEST;
pub use inventory::{Inventory, RecordEntry, WorkFolderEntry};
pub use locks::{KeyLock, StoreLock};
pub use manifest::{Manifest, ManifestFile};
pub use output_snapshot::OutputSnapshot;
pub use partial_object::{PartialObject, partial_name};
pub use record::{
    ActionRecord, ExternalReference, HostInfo, OutputRecord, OutputShape, RunInfo, host_name, write_metrics,
};
pub use untrusted_record::{LARGEST_RECORD, check_record};
pub use verify::VerifyReport;
pub use walk::list_folder;
pub use work::{CheckpointStamp, WorkFolder};

use cwm_core::files::{FileError, Result, STORE_FOLDERS, is_store};
use cwm_core::{DurableFs, read_regular_file};
use layout::STORE_FORMAT;
use record_cache::RecordCache;
use records::DamagedRecords;

/// The text of a new store's `README.md`.
const README: &str = "\
# artifacts

The results of `cwm run`, by the hash of their inputs, parameters and code. Do not edit files here. `cwm show` prints a
result, `cwm show --path` its path, `cwm export` copies it, and `cwm store verify` checks all. You may delete this folder: the
next run computes everything again.
";

/// A store, which may not have been created yet: then it is empty, and is created by the first write.
#[derive(Clone)]
pub struct Store {
    root: PathBuf,
    disk: DurableFs,
    created: Arc<AtomicBool>,
    /// True once this process has seen that all its folders are there.
    has_all_folders: Arc<AtomicBool>,
    /// Records that were read before, for processes that read many.
    record_cache: Option<Arc<RecordCache>>,
    /// The handling of records that turn out damaged, unless that is an error.
    damaged_records: Option<DamagedRecords>,
}

impl Store {
    /// Returns the store at `root`, for reading and writing. Nothing is written yet, not even if there is no store.
    ///
    /// # Errors
    /// The store has a newer format, or its `format` cannot be read; or the folder is a remote, or holds other things.
    pub fn at(root: &Path) -> Result<Store> {
        let root = std::path::absolute(root).map_err(FileError::io("find", root))?;
        let (created, has_all_folders) = Default::default();
        let disk = DurableFs::default();
        let store = Store { root, disk, created, has_all_folders, record_cache: None, damaged_records: None };
        let created = store.read_format()?;
        if !created {
            store.reject_foreign_folder()?;
        } else if layout::is_remote(store.root()) {
            return Err(FileError::rejected(
                store.root(),
                "is a remote, which others push to, and no store",
                "name another folder as the store; `cwm remote add NAME FOLDER` shares results through this one",
            ));
        }
        store.created.store(created, Ordering::Release);
        Ok(store)
    }

    /// Returns true if there is a store on disk.
    pub fn exists(&self) -> bool {
        self.created.load(Ordering::Acquire)
    }

    /// Returns true if `path` lies in this store.
    pub fn contains(&self, path: &Path) -> bool {
        path.starts_with(self.root())
    }

    /// Returns true if there is a store of a known format, false if there is none.
    fn read_format(&self) -> Result<bool> {
        let path = self.root.join("format");
        let bytes = match read_regular_file(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                let hint = "name a folder with `--store` or CWM_STORE";
                return Err(FileError::rejected(&self.root, "is a file, and a store is a folder", hint));
            }
            // It is not a file at all.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Vec::new(),
            Err(error) => return Err(FileError::io("read", &path)(error)),
        };
        match String::from_utf8_lossy(&bytes).trim().parse::<u64>() {
            Ok(found) if found == u64::from(STORE_FORMAT) => Ok(true),
            Ok(found) if found > u64::from(STORE_FORMAT) => {
                Err(FileError::TooNew { path: self.root().to_owned(), what: "the store", found, known: STORE_FORMAT })
            }
            // Nothing that reads the store, `cwm store verify` neither, comes past this.
            _ => Err(FileError::rejected(
                &path,
                format!("does not hold the version of a store, such as `{STORE_FORMAT}`"),
                "if this folder is cwm's, put the version there: `1`, where this cwm created it; or move it away, or delete it: \
                 all that the pipeline needs is then computed again. Or name another store with `--store` or CWM_STORE",
            )),
        }
    }

    /// Creates the store if it is not there, and folders of it that were removed since. Every writing method does this
    /// by itself.
    ///
    /// `format` is made last, so that a creation that was interrupted is simply done again.
    ///
    /// # Errors
    /// The folder holds something else, or cannot be written.
    pub fn create(&self) -> Result<()> {
        if self.has_all_folders.load(Ordering::Acquire) {
            return Ok(());
        }
        let root = self.root();
        self.disk.make_folders(root)?;
        if self.read_format()? {
            self.make_missing_folders()?;
        } else {
            self.reject_foreign_folder()?;
            self.make_missing_folders()?;
            let readme = root.join("README.md");
            if !readme.exists() {
                self.disk.replace(&readme, README.as_bytes(), false)?;
            }
            let ignored = root.join(".gitignore");
            if !ignored.exists() && root.ancestors().any(|folder| folder.join(".git").exists()) {
                self.disk.replace(&ignored, b"*\n", false)?;
            }
            if let Some(parent) = root.parent() {
                self.disk.sync(parent)?;
            }
            self.disk.sync(root)?;
            self.disk.replace(&root.join("format"), format!("{STORE_FORMAT}\n").as_bytes(), true)?;
        }
        self.created.store(true, Ordering::Release);
        self.has_all_folders.store(true, Ordering::Release);
        Ok(())
    }

    /// Makes the folders of a store that are not there: all of them, those that someone removed, or empty ones that a
    /// copy left out.
    fn make_missing_folders(&self) -> Result<()> {
        let mut missing = STORE_FOLDERS.map(|name| self.folder(name)).to_vec();
        missing.retain(|folder| !folder.is_dir());
        missing.iter().try_for_each(|folder| self.disk.make_folders(folder))?;
        if missing.is_empty() { Ok(()) } else { self.disk.sync(self.root()) }
    }

    /// A mistyped `--store` must not fill someone's folder with ours.
    fn reject_foreign_folder(&self) -> Result<()> {
        let root = self.root();
        // A store that lost its `format` is one still, whatever else lies there: run logs, jobs, programs.
        if is_store(root) {
            return Ok(());
        }
        for (name, _) in walk::list_folder(root)? {
            // A command that only reads may have left digests of outside files before there was a store.
            let files = ["README.md", "format", "external_files.cache"];
            let ours = STORE_FOLDERS.contains(&name.as_str()) || files.contains(&name.as_str());
            // Hidden files are a version control system's, a desktop's or an interrupted creation's.
            if !ours && !name.starts_with('.') {
                return Err(FileError::rejected(
                    root,
                    format!("is not a store: it holds `{name}`"),
                    "name the folder of a store with `--store` or CWM_STORE, or an empty one for a new store",
                ));
            }
        }
        Ok(())
    }

    /// Returns the store, with `hook` called before each step on disk, which it may fail: for tests of crash consistency.
    pub fn with_fault_injection(mut self, hook: cwm_core::files::Hook) -> Store {
        self.disk = DurableFs::with_hook(hook);
        self
    }
}
