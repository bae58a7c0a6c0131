//! The private folder of a running stage.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Store;
use super::hashing::read_own_file;
use super::walk::list_folder;
use cwm_core::files::{Result, to_json};
use cwm_core::{FileError, FileErrorKind, Key};

/// `work/<key>`: in the store's file system, so that outputs are renamed into place. The process that uses it has the key's lock.
#[derive(Clone)]
pub struct WorkFolder {
    store: Store,
    /// The key of its action.
    pub key: Key,
    /// The folder itself; the current folder of a command stage.
    pub path: PathBuf,
}

/// The writer of `checkpoints/`: an attempt that resumes from there must have the same stamp. It has the kind of device, not the device:
/// any free one does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointStamp {
    /// Version of this stamp and of the rules for `checkpoints/`.
    pub format: u32,
    /// Fingerprint of the stage's code in the binary that wrote it.
    pub binary: String,
    /// The kind of device that it ran on: [`CheckpointStamp::PROCESSOR`], or that of a GPU, such as `cuda`.
    pub device: String,
}

impl CheckpointStamp {
    /// The version that this cwm writes.
    pub const FORMAT: u32 = 1;
    /// The CPU, or a stage without a device.
    pub const PROCESSOR: &str = "cpu";
    /// The stamp's own name in `checkpoints/`.
    const NAME: &str = ".stamp";
}

/// The name of the file that marks checkpoints in another store.
const REMOTE_CHECKPOINTS: &str = "remote-checkpoints";

/// Prefix of a folder in which a result is checked.
const CHECKING: &str = ".checking-";

impl Store {
    /// Returns the work folder of `key`; [`WorkFolder::prepare`] makes it.
    pub fn work_folder(&self, key: &Key) -> WorkFolder {
        self.attempt_folder(key, false)
    }

    /// Returns the work folder of `key` or, with `check`, the folder in which it is computed again to check its result: not that of
    /// a run, which may hold checkpoints.
    pub fn attempt_folder(&self, key: &Key, check: bool) -> WorkFolder {
        let prefix = if check { CHECKING } else { "" };
        WorkFolder { store: self.clone(), key: *key, path: self.root().join("work").join(format!("{prefix}{key}")) }
    }

    /// Returns all work folders, by key, also those in which results are checked.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn work_folders(&self) -> Result<Vec<WorkFolder>> {
        let names = list_folder(&self.root().join("work"))?;
        let folder = |name: &str| match name.strip_prefix(CHECKING) {
            Some(key) => Some(self.attempt_folder(&key.parse().ok()?, true)),
            None => Some(self.work_folder(&name.parse().ok()?)),
        };
        let mut folders: Vec<WorkFolder> = names.iter().filter_map(|(name, _)| folder(name)).collect();
        folders.sort_by(|a, b| (a.key, &a.path).cmp(&(b.key, &b.path)));
        Ok(folders)
    }
}

impl fmt::Debug for WorkFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WorkFolder").field(&self.path).finish()
    }
}

impl WorkFolder {
    /// Returns the folder of the outputs.
    pub fn out(&self) -> PathBuf {
        self.path.join("out")
    }

    /// Returns the folder for temporary files.
    pub fn tmp(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// Returns the folder of the checkpoints, which survives an interruption.
    pub fn checkpoint_folder(&self) -> PathBuf {
        self.path.join("checkpoints")
    }

    /// Returns the path of the self-contained description of the action.
    pub fn action_file(&self) -> PathBuf {
        self.path.join("action.json")
    }

    /// Returns the path of the stage's log.
    pub fn log(&self) -> PathBuf {
        self.path.join("log")
    }

    /// Makes the folder ready for an attempt, counted from 1: everything is emptied but `checkpoints/` and the action file. A later
    /// attempt of the same run appends to the log of the one before.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn prepare(&self, attempt: u32) -> Result<()> {
        let staying = ["checkpoints", "action.json", if attempt > 1 { "log" } else { "" }];
        self.store.create()?;
        self.store.disk.make_folders(&self.path)?;
        for (name, path) in list_folder(&self.path)? {
            if !staying.contains(&name.as_str()) {
                self.store.disk.remove(&path)?;
            }
        }
        for folder in [self.out(), self.tmp(), self.checkpoint_folder()] {
            self.store.disk.make_folders(&folder)?;
        }
        Ok(())
    }

    /// Removes the outputs and scratch files of a failed stage, so that they do not keep the disk full; `checkpoints/`, the log and the
    /// action file stay. The caller has the key's lock.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn discard_output(&self) -> Result<()> {
        for folder in [self.out(), self.tmp()] {
            for (_, path) in list_folder(&folder)? {
                self.store.disk.remove(&path)?;
            }
        }
        Ok(())
    }

    /// Removes the checkpoints of earlier attempts.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn remove_checkpoints(&self) -> Result<()> {
        self.store.disk.remove(&self.checkpoint_folder())?;
        self.store.disk.make_folders(&self.checkpoint_folder())
    }

    /// Removes the folder. It is garbage first, so that nothing half removed can be taken for checkpoints.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn remove(&self) -> Result<()> {
        if !self.path.is_dir() {
            return Ok(());
        }
        let folder = self.store.folder("garbage");
        self.store.disk.make_folders(&folder)?;
        let garbage = folder.join(self.store.unique_name(&self.path));
        self.store.disk.rename(&self.path, &garbage)?;
        self.store.disk.remove(&garbage)
    }

    /// Writes the action file in one instant. The folder is made if needed. The process that has the key's lock may finish and
    /// remove the folder in the middle of this; then it is written again. If the disk is full, files that an earlier attempt
    /// at this key left in `out/` and `tmp/` go first, unless that attempt still runs.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn write_action<T: Serialize>(&self, action: &T) -> Result<()> {
        self.store.create()?;
        let mut attempts = 0;
        let mut discarded = false;
        loop {
            attempts += 1;
            self.store.disk.make_folders(&self.path)?;
            // Not synced: after a power loss it is written again before it runs.
            match self.store.disk.replace_unsynced(&self.action_file(), &to_json(&self.action_file(), action)?) {
                Err(error) if error.kind() == FileErrorKind::Missing && attempts < 10 => {}
                Err(error) if error.kind() == FileErrorKind::DiskFull && !discarded => {
                    // A failure to free space is reported as the full disk that caused it.
                    let lock = self.store.try_lock_key_silently(&self.key).unwrap_or_default();
                    discarded = lock.is_some_and(|_held| self.discard_output().is_ok());
                    if !discarded {
                        return Err(error);
                    }
                }
                other => return other,
            }
        }
    }

    /// Reads the action file.
    ///
    /// # Errors
    /// It is not there, or [`WorkFolder::write_action`] did not write it.
    pub fn read_action<T: DeserializeOwned>(&self) -> Result<T> {
        let path = self.action_file();
        read_json(&path)?.ok_or_else(|| FileError::Missing { path, what: "is not there".into() })
    }

    /// Writes the stamp of the process that writes `checkpoints/` from now on.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn write_stamp(&self, stamp: &CheckpointStamp) -> Result<()> {
        let path = self.checkpoint_folder().join(CheckpointStamp::NAME);
        self.store.disk.replace(&path, &to_json(&path, stamp)?, false)
    }

    /// Reads the stamp of `checkpoints/`, if it has one.
    ///
    /// # Errors
    /// The stamp is damaged.
    pub fn read_stamp(&self) -> Result<Option<CheckpointStamp>> {
        read_json(&self.checkpoint_folder().join(CheckpointStamp::NAME))
    }

    /// Marks that an attempt has checkpoints in another store. [`WorkFolder::prepare`] removes the mark.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn mark_remote_checkpoints(&self) -> Result<()> {
        self.store.disk.write_marker(&self.path.join(REMOTE_CHECKPOINTS), "")
    }

    /// Returns true if an attempt has checkpoints in another store.
    pub fn has_remote_checkpoints(&self) -> bool {
        self.path.join(REMOTE_CHECKPOINTS).exists()
    }

    /// Returns the names in `checkpoints/`, sorted, without the stamp.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn checkpoints(&self) -> Result<Vec<String>> {
        let mut names: Vec<String> =
            list_folder(&self.checkpoint_folder())?.into_iter().map(|(name, _)| name).collect();
        names.retain(|name| name != CheckpointStamp::NAME);
        Ok(names)
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let Some(bytes) = FileError::optional(read_own_file(path))? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| FileError::damaged(path, error.to_string()))
}
