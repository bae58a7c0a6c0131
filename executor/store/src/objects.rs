//! Objects, and the files that become objects.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Store;
use super::damage::{Check, ObjectState};
use super::hashing::read_own_file;
use super::manifest::Manifest;
use super::mtime_seal;
use super::record::OutputShape;
use super::walk::{files_below, metadata};
use cwm_core::files::Result;
use cwm_core::{Digest, FileError};

/// Bytes of a stream that are read at once.
const BLOCK: usize = 1 << 20;

impl Store {
    /// Returns the size of an object, or nothing if it is not there.
    ///
    /// # Errors
    /// A system call fails.
    pub fn object_size(&self, digest: &Digest) -> Result<Option<u64>> {
        let path = self.object_path(digest);
        match metadata(&path)? {
            Some(metadata) if !metadata.is_file() => Err(FileError::damaged(&path, "it is not a file")),
            metadata => Ok(metadata.map(|metadata| metadata.len())),
        }
    }

    /// Reads a small object, such as a log, and checks its digest.
    ///
    /// # Errors
    /// It is not there, is damaged, or cannot be read.
    pub fn read_checked(&self, digest: &Digest) -> Result<Vec<u8>> {
        let path = self.object_path(digest);
        match FileError::optional(read_own_file(&path))? {
            Some(bytes) if Digest::of(&bytes) == *digest => Ok(bytes),
            Some(_) => Err(FileError::damaged(&path, "its content does not have the digest that names it")),
            None => Err(FileError::Missing { path, what: "is not in the store".into() }),
        }
    }

    /// Reads the manifest of the folder with this digest.
    ///
    /// # Errors
    /// It is not there, is damaged, or is of a newer version.
    pub fn manifest(&self, digest: &Digest) -> Result<Manifest> {
        Manifest::decode(&self.object_path(digest), &self.read_checked(digest)?)
    }

    /// Stores the bytes of `source`, which can be read only once. Returns their digest and number. Nothing stays if it fails.
    /// Until a record names the content it is garbage: hold the store's shared lock.
    ///
    /// # Errors
    /// `source` cannot be read (`path` is its path), or an operation on the disk fails.
    pub fn ingest(&self, path: &Path, source: &mut impl Read) -> Result<(Digest, u64)> {
        self.create()?;
        let (mut file, temporary) = self.disk.new_file(&self.folder("temporary"))?;
        let mut hasher = blake3::Hasher::new();
        let mut size = 0;
        let mut block = Vec::with_capacity(BLOCK);
        while source.by_ref().take(BLOCK as u64).read_to_end(&mut block).map_err(FileError::io("read", path))? > 0 {
            hasher.update(&block);
            size += block.len() as u64;
            file.write_all(&block).map_err(FileError::io("write", temporary.path()))?;
            block.clear();
        }
        let digest = Digest(*hasher.finalize().as_bytes());
        let mut unsynced = BTreeSet::new();
        self.place_object(temporary.path(), size, &digest, false, &mut unsynced)?;
        self.disk.sync_together(unsynced)?;
        Ok((digest, size))
    }

    /// Moves a hashed file, sealed, to its place among the objects; removes it if an intact object is there already. Adds the
    /// folders whose names must be synced afterwards to `unsynced`.
    pub(super) fn place_object(
        &self,
        path: &Path,
        size: u64,
        digest: &Digest,
        is_synced: bool,
        unsynced: &mut BTreeSet<PathBuf>,
    ) -> Result<()> {
        let place = self.object_path(digest);
        // Also for an object that is there: the process that placed it may have been killed before it synced them.
        unsynced.extend(shard_and_parent(&place));
        // Hashed, whatever its times are: the record that is written next vouches for it.
        if self.object_state(digest, Some(size), Check::Hash)? == ObjectState::Intact {
            return self.disk.remove(path);
        }
        if !is_synced {
            self.disk.sync(path)?;
        }
        self.disk.seal(path, mtime_seal::second_of(digest, SystemTime::now()))?;
        self.disk.make_folders(place.parent().unwrap_or(&place))?;
        let _only_one = self.lock_replacing(&place)?;
        self.disk.rename(path, &place)
    }
}

/// Returns the shard of an object or of the folder of a key, and the folder that holds the shard: the names in both are new where
/// this is the first of its shard.
pub(super) fn shard_and_parent(path: &Path) -> impl Iterator<Item = PathBuf> {
    path.ancestors().skip(1).take(2).map(Path::to_owned)
}

/// A file that a stage made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProducedFile {
    /// Its path in the work folder.
    pub path: PathBuf,
    /// Its name in the folder; empty for an output that is one file.
    pub name: String,
    pub size: u64,
    /// True if its owner may execute it.
    pub executable: bool,
}

/// Returns all files of an output, sorted by name.
///
/// # Errors
/// It is not there or not of the declared shape, or has files that cannot be stored.
pub(super) fn list_files(output: &Path, shape: &OutputShape) -> Result<Vec<ProducedFile>> {
    let Some(metadata) = metadata(output)? else {
        return Err(FileError::Missing { path: output.to_owned(), what: "was declared and not written".into() });
    };
    let is_folder = shape.is_folder();
    if is_folder && metadata.is_file() {
        let problem = "is a file, but was declared as a folder";
        return Err(FileError::rejected(output, problem, "make a folder there, or declare a file"));
    }
    if !is_folder && metadata.is_dir() {
        return Err(FileError::rejected(
            output,
            "is a folder, but was declared as a file",
            "write a file there, or declare a folder: `outputs: { out: folder }`",
        ));
    }
    let files = if metadata.is_dir() { files_below(output)? } else { vec![(output.to_owned(), metadata)] };
    let files = files.into_iter().map(|(path, metadata)| match path.strip_prefix(output).unwrap_or(&path).to_str() {
        Some(name) => produced_file(&path, name.to_owned(), &metadata),
        None => Err(FileError::rejected(&path, "has a name that is not UTF-8", "give it a name in UTF-8")),
    });
    files.collect()
}

/// A plain file with no second name: a link would bring content into the store that others can still change.
fn produced_file(path: &Path, name: String, metadata: &fs::Metadata) -> Result<ProducedFile> {
    let what = if metadata.is_symlink() {
        "is a symbolic link"
    } else if !metadata.is_file() {
        "is not a plain file"
    } else if metadata.nlink() > 1 {
        "has a second name (a hard link)"
    } else {
        let executable = metadata.mode() & 0o100 != 0;
        return Ok(ProducedFile { path: path.to_owned(), name, size: metadata.len(), executable });
    };
    Err(FileError::rejected(
        path,
        what,
        "an output consists of plain files that belong to it alone; copy what it needs (`cp -L`)",
    ))
}
