//! A file of PyTorch's: where its pickle and its storages are.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::archive::Archive;
use super::legacy::Legacy;
use crate::error::ForeignError;
use crate::pickle::{MemoryBudget, Nodes};
use crate::tensor::{Storage, Tensor};

/// The storages of a file.
#[derive(Debug)]
pub enum Container {
    /// A zip archive: PyTorch 1.6 and later.
    Archive(Box<Archive>),
    /// Pickles one after another, then storages: before that, and on request.
    Legacy(Legacy),
}

impl Container {
    /// Reads what was saved into `file`, which `path` names, without the tensors' elements. What is made of it takes of
    /// `budget`.
    ///
    /// # Errors
    /// It cannot be read, or is no such file; the message has what it seems to be.
    pub fn open(path: &Path, file: File, budget: &mut MemoryBudget) -> Result<(Self, Nodes), ForeignError> {
        let mut file = BufReader::new(file);
        let mut start = Vec::new();
        file.by_ref().take(512).read_to_end(&mut start).map_err(|error| ForeignError::file("read", path, error))?;
        file.seek(SeekFrom::Start(0)).map_err(|error| ForeignError::file("read", path, error))?;
        let wrong = |message: &str| Err(ForeignError::content(path, message));
        match &start[..] {
            [b'P', b'K', ..] => {
                let (archive, nodes) = Archive::open(path, file, budget)?;
                Ok((Container::Archive(Box::new(archive)), nodes))
            }
            [0x80, ..] => {
                let (legacy, nodes) = Legacy::open(path, file, budget)?;
                Ok((Container::Legacy(legacy), nodes))
            }
            start if start.get(257..262) == Some(b"ustar") => {
                wrong("is a tar archive, as PyTorch wrote before 0.1.10; load and save it with a newer PyTorch")
            }
            [] => wrong("is empty"),
            _ => wrong("is neither a file of torch.save nor a safetensors file"),
        }
    }

    /// Returns the location of the elements of `tensor` in the file.
    ///
    /// # Errors
    /// It is not where the file declares it: in words that follow the tensor's name, or of the system.
    pub fn locate(&mut self, path: &Path, name: &str, tensor: &Tensor) -> Result<Place, ForeignError> {
        let wrong = |what: String| ForeignError::part(path, format!("`{name}` {what}"));
        let size = tensor.storage.element.bytes().ok_or_else(|| wrong("is of an unknown type".into()))?;
        let window = tensor.window().map_err(wrong)?;
        let place = match self {
            Container::Archive(archive) => archive.place(path, &tensor.storage)?,
            Container::Legacy(legacy) => legacy.place(path, &tensor.storage)?,
        };
        let (start, length) = (window.start.checked_mul(size), window.length.checked_mul(size));
        let (Some(start), Some(length)) = (start, length) else { return Err(wrong("is too large".into())) };
        if start.checked_add(length).is_none_or(|end| end > place.bytes) {
            let storage = &tensor.storage;
            return Err(wrong(format!("needs storage `{}`, which ends after {} bytes", storage.key, place.bytes)));
        }
        Ok(Place { start: place.start + start, bytes: length })
    }

    /// The bytes of the elements of `tensor`, in its order.
    ///
    /// # Errors
    /// Those of [`locate`](Self::locate).
    pub fn read(&mut self, path: &Path, name: &str, tensor: &Tensor) -> Result<Vec<u8>, ForeignError> {
        let place = self.locate(path, name, tensor)?;
        let file = match self {
            Container::Archive(archive) => archive.file(),
            Container::Legacy(legacy) => legacy.file(),
        };
        // Storages end within the file, so that no more memory is allocated than it has bytes.
        let mut bytes = vec![0; place.bytes as usize];
        file.read_exact_at(&mut bytes, place.start).map_err(|error| ForeignError::file("read", path, error))?;
        Ok(tensor.gather(bytes, tensor.storage.element.bytes().unwrap_or(0) as usize))
    }
}

/// The location of a storage in a file.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its first byte.
    pub start: u64,
    /// Number of elements, or of bytes.
    pub bytes: u64,
}

/// Bytes that a storage should have.
pub fn bytes_of(storage: &Storage) -> Option<u64> {
    storage.element.bytes()?.checked_mul(storage.length)
}
