//! Content by its hash: what is there, and what a stage made that may become so.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Store;
use super::manifest::{Manifest, ManifestError};
use super::mtime_seal;
use super::record::OutputShape;
use cwm_core::files::Result;
use cwm_core::{Digest, FileError, read_regular_file};

impl Store {
    /// Where the content with this digest is, if it is there.
    pub fn object_path(&self, digest: &Digest) -> PathBuf {
        self.layout.object(digest)
    }

    /// The size of an object, or nothing if it is not there.
    ///
    /// # Errors
    /// The system cannot tell.
    pub fn object_size(&self, digest: &Digest) -> Result<Option<u64>> {
        let path = self.object_path(digest);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
            Ok(_) => Err(FileError::damaged(&path, "it is not a file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(FileError::io("look at", &path)(error)),
        }
    }

    /// The content of a small object, such as a log.
    ///
    /// # Errors
    /// It is not there, or cannot be read.
    pub fn read_object(&self, digest: &Digest) -> Result<Vec<u8>> {
        let path = self.object_path(digest);
        read_regular_file(&path).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => FileError::damaged(&path, error.to_string()),
            io::ErrorKind::NotFound => FileError::Missing { path, what: "is not in the store".into() },
            _ => FileError::io("read", &path)(error),
        })
    }

    /// The content of an object, which is what its digest says.
    ///
    /// # Errors
    /// It is not there, is damaged, or cannot be read.
    pub fn read_checked(&self, digest: &Digest) -> Result<Vec<u8>> {
        let bytes = self.read_object(digest)?;
        if Digest::of(&bytes) != *digest {
            let path = self.object_path(digest);
            return Err(FileError::damaged(&path, "its content does not have the digest that names it"));
        }
        Ok(bytes)
    }

    /// What the folder with this digest holds.
    ///
    /// # Errors
    /// The manifest is not there, is damaged, or is of a newer version.
    pub fn manifest(&self, digest: &Digest) -> Result<Manifest> {
        let bytes = self.read_checked(digest)?;
        let path = self.object_path(digest);
        Manifest::decode(&bytes).map_err(|fault| match fault {
            ManifestError::TooNew(found) => FileError::TooNew {
                path,
                what: "the manifest of a folder",
                found,
                known: super::manifest::MANIFEST_FORMAT,
            },
            ManifestError::Wrong(what) => FileError::damaged(&path, what),
        })
    }
}

impl Store {
    /// Seals a synced file and gives it the name of its content. Adds the folders whose names must be synced afterwards to
    /// `touched`.
    pub(super) fn place_object(&self, path: &Path, digest: &Digest, touched: &mut BTreeSet<PathBuf>) -> Result<()> {
        self.disk.seal(path, mtime_seal::second_of(digest, SystemTime::now()))?;
        let place = self.object_path(digest);
        let shard = shard_of(&place);
        if !shard.is_dir() {
            // Shards are made with the store; this one was removed since.
            self.disk.make_folder(shard)?;
            touched.insert(shard_of(shard).to_owned());
        }
        touched.insert(shard.to_owned());
        let _only_one = self.lock_replacing(&place)?;
        self.disk.place(path, &place)
    }
}

/// The folder that holds `path`.
pub(super) fn shard_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// A file that a stage made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProducedFile {
    /// Where it is now.
    pub path: PathBuf,
    /// Its name in the folder; empty for an output that is one file.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Whether its owner may execute it.
    pub executable: bool,
}

const MAKE_FILES: &str = "an output consists of plain files that belong to it alone; copy what it needs";

/// All files of an output, sorted by name.
///
/// # Errors
/// It is not there or not of the declared shape, or it holds what cannot be stored, in words.
pub(super) fn survey(output: &Path, shape: &OutputShape) -> Result<Vec<ProducedFile>> {
    let metadata = match fs::symlink_metadata(output) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(FileError::Missing { path: output.to_owned(), what: "was declared but not made".into() });
        }
        Err(error) => return Err(FileError::io("look at", output)(error)),
    };
    match shape {
        OutputShape::File { .. } if metadata.is_dir() => {
            Err(FileError::refused(output, "is a folder, but was declared as a file", "make a file of that name"))
        }
        OutputShape::File { .. } => Ok(vec![made_file(output, String::new(), &metadata)?]),
        OutputShape::Folder if metadata.is_file() => {
            Err(FileError::refused(output, "is a file, but was declared as a folder", "make a folder of that name"))
        }
        OutputShape::Folder => {
            let mut files = Vec::new();
            if !metadata.is_dir() {
                made_file(output, String::new(), &metadata)?;
            }
            survey_folder(output, "", &mut files)?;
            files.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(files)
        }
    }
}

fn survey_folder(folder: &Path, prefix: &str, files: &mut Vec<ProducedFile>) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(FileError::io("read the folder", folder))? {
        let entry = entry.map_err(FileError::io("read the folder", folder))?;
        let path = entry.path();
        let Ok(name) = entry.file_name().into_string() else {
            return Err(FileError::refused(&path, "has a name that is not UTF-8", "give it a name in UTF-8"));
        };
        let metadata = fs::symlink_metadata(&path).map_err(FileError::io("look at", &path))?;
        if metadata.is_dir() {
            survey_folder(&path, &format!("{prefix}{name}/"), files)?;
        } else {
            files.push(made_file(&path, format!("{prefix}{name}"), &metadata)?);
        }
    }
    Ok(())
}

/// A plain file with no second name: a link would bring content into the store that others can still change.
fn made_file(path: &Path, name: String, metadata: &fs::Metadata) -> Result<ProducedFile> {
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
    Err(FileError::refused(path, what, MAKE_FILES))
}
