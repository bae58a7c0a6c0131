//! The kernel's locks, so that nothing is ever to be deleted by hand.
//!
//! A lock is `flock` on a file in `locks/` that is opened for writing (NFS wants that) and never removed by a holder;
//! if someone else removed it meanwhile, the lock is taken again on the file that is there now. It ends when the last
//! process that has the descriptor ends, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use super::Store;
use super::lock_owner::{LockOwner, read_lock_owner, write_lock_owner};
use cwm_core::files::Result;
use cwm_core::{FileError, FileErrorKind, Key};

/// Holds the lock of a key, until it is dropped and every child that inherited it has ended.
#[derive(Debug)]
pub struct KeyLock {
    // Only ever closed, never unlocked: an unlock would take the lock from the children, too.
    file: File,
}

impl KeyLock {
    /// Lets children of this process keep the lock for as long as they live.
    ///
    /// # Errors
    /// The system refuses.
    pub fn share_with_children(&self) -> io::Result<()> {
        rustix::io::fcntl_setfd(&self.file, rustix::io::FdFlags::empty()).map_err(io::Error::from)
    }
}

impl AsFd for KeyLock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl AsRawFd for KeyLock {
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

/// Holds the lock of the whole store, shared or exclusive.
#[derive(Debug)]
pub struct StoreLock {
    /// None on a read-only store that never had a lock file: nobody removes anything there.
    _file: Option<File>,
}

/// How often a waiting process looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// The lock of the store as a whole.
const STORE_LOCK: &str = "store";

/// The lock of those who submit jobs.
const BATCHES_LOCK: &str = "batches";

#[derive(Clone, Copy)]
enum Mode {
    Shared,
    Exclusive,
}

impl Store {
    /// Takes the lock of `key` if nobody holds it. `command` tells those who wait what we do.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn try_lock_key(&self, key: &Key, command: &str) -> Result<Option<KeyLock>> {
        self.create()?;
        let path = self.lock_path(&key.to_string());
        let Some(mut file) = try_lock(&path, Mode::Exclusive, true)? else { return Ok(None) };
        write_lock_owner(&mut file, &LockOwner::this(command)).map_err(FileError::io("write", &path))?;
        Ok(Some(KeyLock { file }))
    }

    /// Takes the lock of `key` if nobody holds it, for an instant: who holds it is not written, which needs no room on a
    /// full disk.
    pub(super) fn try_lock_key_silently(&self, key: &Key) -> Result<Option<File>> {
        try_lock(&self.lock_path(&key.to_string()), Mode::Exclusive, true)
    }

    /// Takes the lock of `key`, waiting for as long as `waiting` says so. It is called about twenty times a second
    /// with who holds the lock, if that can be told.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn lock_key(
        &self,
        key: &Key,
        command: &str,
        mut waiting: impl FnMut(Option<&LockOwner>) -> bool,
    ) -> Result<Option<KeyLock>> {
        loop {
            if let Some(lock) = self.try_lock_key(key, command)? {
                return Ok(Some(lock));
            }
            let path = self.lock_path(&key.to_string());
            if !waiting(read_lock_owner(&path).map(|holder| holder.or_heir(&path)).as_ref()) {
                return Ok(None);
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Who holds the lock of `key` now. Nothing is locked for more than an instant, and nothing is written.
    ///
    /// # Errors
    /// The lock's file cannot be read.
    pub fn holder(&self, key: &Key) -> Result<Option<LockOwner>> {
        let path = self.lock_path(&key.to_string());
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(FileError::io("open", &path)(error)),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(read_lock_owner(&path).map(|holder| holder.or_heir(&path))),
            Err(TryLockError::Error(error)) => Err(FileError::io("lock", &path)(error)),
        }
    }

    /// Keeps `gc` from removing anything. While one moves garbage aside, waits, and tells once for whom. On a store that
    /// cannot be written, the lock is taken if it can be.
    ///
    /// # Errors
    /// The system refuses.
    pub fn lock_shared(&self, waiting: impl FnOnce(&str)) -> Result<StoreLock> {
        if !self.exists() {
            return Ok(StoreLock { _file: None });
        }
        let path = self.lock_path(STORE_LOCK);
        if !path.parent().is_some_and(Path::is_dir) {
            match self.create() {
                Err(error) if error.trouble() == FileErrorKind::ReadOnly => return Ok(StoreLock { _file: None }),
                made => made?,
            }
        }
        let writing = !matches!(open(&path, true), Err(error) if error.trouble() == FileErrorKind::ReadOnly);
        match lock(&path, Mode::Shared, writing, waiting) {
            Ok(file) => Ok(StoreLock { _file: Some(file) }),
            Err(error) if !writing && error.trouble() == FileErrorKind::Missing => Ok(StoreLock { _file: None }),
            Err(error) => Err(error),
        }
    }

    /// Has the store alone: for moving garbage aside. While others plan or record, waits, and tells so once.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn lock_exclusive(&self, command: &str, waiting: impl FnOnce(&str)) -> Result<StoreLock> {
        self.create()?;
        let path = self.lock_path(STORE_LOCK);
        let mut file = lock(&path, Mode::Exclusive, true, waiting)?;
        self.say_if_there_is_room(&mut file, command, &path)?;
        Ok(StoreLock { _file: Some(file) })
    }

    /// Has the store alone if nobody else uses it now.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn try_lock_exclusive(&self, command: &str) -> Result<Option<StoreLock>> {
        self.create()?;
        let path = self.lock_path(STORE_LOCK);
        let Some(mut file) = try_lock(&path, Mode::Exclusive, true)? else { return Ok(None) };
        self.say_if_there_is_room(&mut file, command, &path)?;
        Ok(Some(StoreLock { _file: Some(file) }))
    }

    /// Waits until nobody else submits jobs for this store. It lasts until the file, and every copy that another process was
    /// given of it, is closed.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn lock_batches(&self) -> Result<File> {
        self.create()?;
        lock(&self.lock_path(BATCHES_LOCK), Mode::Exclusive, true, |_| {})
    }

    /// Says who holds the store's lock. On a full disk nobody is told: it is taken to make room.
    fn say_if_there_is_room(&self, file: &mut File, command: &str, path: &Path) -> Result<()> {
        match self.disk.write_into(path, || write_lock_owner(file, &LockOwner::this(command))) {
            Err(error) if error.trouble() == FileErrorKind::DiskFull => Ok(()),
            written => written,
        }
    }
}

/// Has what the lock at `path` stands for alone, after whoever has it for an instant.
pub(super) fn wait_alone(path: &Path) -> Result<File> {
    lock(path, Mode::Exclusive, true, |_| {})
}

fn open(path: &Path, writing: bool) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(writing).create(writing).truncate(false);
    options.open(path).map_err(FileError::io("open the lock", path))
}

/// Whether `path` still names the file that was locked.
pub(super) fn is_still_there(path: &Path, file: &File) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

fn try_lock(path: &Path, mode: Mode, writing: bool) -> Result<Option<File>> {
    loop {
        let file = open(path, writing)?;
        let locked = match mode {
            Mode::Shared => file.try_lock_shared(),
            Mode::Exclusive => file.try_lock(),
        };
        match locked {
            Ok(()) if is_still_there(path, &file) => return Ok(Some(file)),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(FileError::io("lock", path)(error)),
        }
    }
}

fn lock(path: &Path, mode: Mode, writing: bool, waiting: impl FnOnce(&str)) -> Result<File> {
    if let Some(file) = try_lock(path, mode, writing)? {
        return Ok(file);
    }
    match (mode, read_lock_owner(path)) {
        (Mode::Shared, Some(holder)) => waiting(&holder.to_string()),
        _ => waiting("another process"),
    }
    loop {
        let file = open(path, writing)?;
        let locked = match mode {
            Mode::Shared => file.lock_shared(),
            Mode::Exclusive => file.lock(),
        };
        match locked {
            Ok(()) if is_still_there(path, &file) => return Ok(file),
            Ok(()) => {}
            // A signal whose handler only notes it.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(FileError::io("lock", path)(error)),
        }
    }
}
