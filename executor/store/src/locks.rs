//! The kernel's locks, so that nobody has to delete a stale one by hand.
//!
//! A lock is `flock` on a file in `locks/` that is opened for writing (NFS requires that) and never removed by its owner;
//! if another process removed it meanwhile, the lock is taken again on the file that is there now. It ends when the last
//! process that has the descriptor ends, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use super::Store;
use super::record::host_name;
use cwm_core::files::Result;
use cwm_core::{FileError, FileErrorKind, Key, os};

/// The lock of a key, until it is dropped and every child that inherited it has ended.
#[derive(Debug)]
pub struct KeyLock {
    // Only ever closed, never unlocked: an unlock would take the lock from the children, too.
    pub(super) file: File,
}

impl KeyLock {
    /// Makes children of this process keep the lock for as long as they live.
    ///
    /// # Errors
    /// A system call fails.
    pub fn share_with_children(&self) -> io::Result<()> {
        rustix::io::fcntl_setfd(&self.file, rustix::io::FdFlags::empty()).map_err(io::Error::from)
    }
}

/// The lock of the whole store, shared or exclusive.
#[derive(Debug)]
pub struct StoreLock {
    /// The lock file; none on a read-only store without one: nothing can be removed there.
    _file: Option<File>,
}

/// The owner of a lock, one JSON line in the lock's file: for the message "waiting for …" and nothing else.
#[derive(Serialize, Deserialize)]
struct LockOwner {
    pid: u32,
    host: String,
    command: String,
}

impl LockOwner {
    /// Writes this process as the owner of a lock into the lock's file.
    fn write(mut file: &File, command: &str) -> io::Result<()> {
        let (pid, host, command) = (std::process::id(), host_name(), command.to_owned());
        let text = serde_json::to_string(&LockOwner { pid, host, command })?;
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(format!("{text}\n").as_bytes())
    }

    /// Describes the owner of the lock at `path`, if it is known. Where it has ended, a background child of a command has inherited
    /// the lock.
    fn describe(path: &Path) -> Option<String> {
        let mut text = String::new();
        File::open(path).ok()?.take(65536).read_to_string(&mut text).ok()?;
        let LockOwner { pid, host, command } = serde_json::from_str(&text).ok()?;
        let owner = format!("`{command}`, process {pid} on {host}");
        let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
        if host != host_name() || process.is_some_and(os::is_running) {
            return Some(owner);
        }
        Some(format!("{owner} (killed: `fuser -v {}` names the process that it left running)", path.display()))
    }
}

/// The pause between two attempts of a waiting process.
const PAUSE: Duration = Duration::from_millis(50);

/// The lock of the store as a whole.
const STORE_LOCK: &str = "store";

impl Store {
    /// Takes the lock of `key` if it is free. Processes that wait for it show `command`.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn try_lock_key(&self, key: &Key, command: &str) -> Result<Option<KeyLock>> {
        self.create()?;
        let path = self.lock_path(&key.to_string());
        let Some(file) = take(&path, true, File::try_lock)? else { return Ok(None) };
        LockOwner::write(&file, command).map_err(FileError::io("write", &path))?;
        Ok(Some(KeyLock { file }))
    }

    /// Takes the lock of `key` if it is free, for an instant: its owner is not written, which needs no space on a full disk.
    pub(super) fn try_lock_key_silently(&self, key: &Key) -> Result<Option<File>> {
        take(&self.lock_path(&key.to_string()), true, File::try_lock)
    }

    /// Takes the lock of `key`, and waits for it as long as `waiting` returns true. That is called about twenty times a second
    /// with a description of the owner of the lock, if it is known.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn lock_key(
        &self,
        key: &Key,
        command: &str,
        mut waiting: impl FnMut(Option<&str>) -> bool,
    ) -> Result<Option<KeyLock>> {
        loop {
            if let Some(lock) = self.try_lock_key(key, command)? {
                return Ok(Some(lock));
            }
            if !waiting(LockOwner::describe(&self.lock_path(&key.to_string())).as_deref()) {
                return Ok(None);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Returns a description of the owner of the lock of `key`. Nothing is locked for more than an instant, and nothing is
    /// written.
    ///
    /// # Errors
    /// The lock's file cannot be read.
    pub fn lock_owner(&self, key: &Key) -> Result<Option<String>> {
        let path = self.lock_path(&key.to_string());
        match FileError::optional(take(&path, false, File::try_lock_shared))? {
            Some(None) => Ok(LockOwner::describe(&path)),
            Some(Some(_)) | None => Ok(None),
        }
    }

    /// Takes the shared lock, which keeps `gc` from removing anything. While `gc` moves garbage, waits, and calls `waiting`
    /// once with the lock's owner. On a store that cannot be written, the lock is taken if that is possible.
    ///
    /// # Errors
    /// A system call fails.
    pub fn lock_shared(&self, waiting: impl FnOnce(&str)) -> Result<StoreLock> {
        if !self.exists() {
            return Ok(StoreLock { _file: None });
        }
        let path = self.lock_path(STORE_LOCK);
        if !path.parent().is_some_and(Path::is_dir) {
            match self.create() {
                Err(error) if error.kind() == FileErrorKind::ReadOnly => return Ok(StoreLock { _file: None }),
                created => created?,
            }
        }
        let writing = !matches!(open(&path, true), Err(error) if error.kind() == FileErrorKind::ReadOnly);
        let owner = || LockOwner::describe(&path).unwrap_or_else(|| "another process".to_owned());
        match lock(&path, writing, File::try_lock_shared, File::lock_shared, || waiting(&owner())) {
            Ok(file) => Ok(StoreLock { _file: Some(file) }),
            Err(error) if !writing && error.kind() == FileErrorKind::Missing => Ok(StoreLock { _file: None }),
            Err(error) => Err(error),
        }
    }

    /// Takes the exclusive lock, for moving garbage. While other processes plan or record, waits, and calls `waiting` once.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn lock_exclusive(&self, command: &str, waiting: impl FnOnce()) -> Result<StoreLock> {
        self.create()?;
        self.write_owner(lock(&self.lock_path(STORE_LOCK), true, File::try_lock, File::lock, waiting)?, command)
    }

    /// Takes the exclusive lock if no other process uses the store.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn try_lock_exclusive(&self, command: &str) -> Result<Option<StoreLock>> {
        self.create()?;
        let file = take(&self.lock_path(STORE_LOCK), true, File::try_lock)?;
        file.map(|file| self.write_owner(file, command)).transpose()
    }

    /// Writes the owner of the store's lock. Not on a full disk: the lock is taken to free space.
    fn write_owner(&self, file: File, command: &str) -> Result<StoreLock> {
        match self.disk.write_into(&self.lock_path(STORE_LOCK), || LockOwner::write(&file, command)) {
            Err(error) if error.kind() != FileErrorKind::DiskFull => Err(error),
            _ => Ok(StoreLock { _file: Some(file) }),
        }
    }

    /// Waits until no other process submits jobs for this store. The lock lasts until the file, and every copy that another process
    /// was given of it, is closed.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn lock_batches(&self) -> Result<File> {
        self.create()?;
        wait_for(&self.lock_path("batches"))
    }
}

/// Takes the exclusive lock at `path`, after its owner released it.
pub(super) fn wait_for(path: &Path) -> Result<File> {
    lock(path, true, File::try_lock, File::lock, || {})
}

fn open(path: &Path, writing: bool) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(writing).create(writing).truncate(false);
    options.open(path).map_err(FileError::io("open the lock", path))
}

/// Returns true if `path` is still the path of the file that was locked.
pub(super) fn still_exists(path: &Path, file: &File) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// Takes a lock with `lock`; returns nothing if another process has it and `lock` does not wait.
fn take(path: &Path, writing: bool, lock: impl Fn(&File) -> Result<(), TryLockError>) -> Result<Option<File>> {
    loop {
        let file = open(path, writing)?;
        match lock(&file) {
            Ok(()) if still_exists(path, &file) => return Ok(Some(file)),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            // A signal whose handler only notes it.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(TryLockError::Error(error)) => return Err(FileError::io("lock", path)(error)),
        }
    }
}

/// Takes a lock with `try_lock`; while another process has it, calls `waiting` once and takes it with `wait`.
fn lock(
    path: &Path,
    writing: bool,
    try_lock: fn(&File) -> Result<(), TryLockError>,
    wait: fn(&File) -> io::Result<()>,
    waiting: impl FnOnce(),
) -> Result<File> {
    if let Some(file) = take(path, writing, try_lock)? {
        return Ok(file);
    }
    waiting();
    loop {
        if let Some(file) = take(path, writing, |file| wait(file).map_err(TryLockError::Error))? {
            return Ok(file);
        }
    }
}
