//! A file of weights, whichever program wrote it.

use std::fs::{File, Metadata};
use std::io::{Read, Seek};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::error::ForeignError;
use crate::pickle::MemoryBudget;
use crate::safetensors::Safetensors;
use crate::tensor::Tensor;
use crate::tensor_groups::{FileContents, find_tensor_groups};
use crate::torch::Container;

/// Parameters that a model may have for each byte of its file. Smaller ones than 16 bits are not read, so that only
/// tensors that share elements, or expand them, come near it.
const MAX_PARAMETERS_PER_BYTE: u64 = 2;

/// An open file: what it holds is known, and tensors are read when they are requested.
#[derive(Debug)]
pub struct ForeignFile {
    contents: FileContents,
    source: Source,
}

/// The storage of its tensors' elements. The path is opened once: elements and digest are those of one file,
/// whatever the path names by then.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    file: File,
    length: u64,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Torch(Container),
    Safetensors(Safetensors),
}

impl ForeignFile {
    /// Opens a file of `torch.save` or a safetensors file; its first bytes show which.
    ///
    /// # Errors
    /// It cannot be read, is neither, or is damaged.
    pub fn open(path: &Path) -> Result<Self, ForeignError> {
        let unopened = |error| ForeignError::file("open", path, error);
        let unread = |error| ForeignError::file("read", path, error);
        // Looked at first, since to open a pipe waits for a writer.
        regular(path, &std::fs::metadata(path).map_err(unopened)?)?;
        let mut file = File::open(path).map_err(unopened)?;
        let metadata = file.metadata().map_err(unread)?;
        regular(path, &metadata)?;
        let mut start = Vec::new();
        file.by_ref().take(9).read_to_end(&mut start).map_err(unread)?;
        file.rewind().map_err(unread)?;
        let same = file.try_clone().map_err(unread)?;
        // The length of a header, less than 2^32, then the header, a JSON object.
        let (kind, contents) = if let [.., 0, 0, 0, 0, b'{'] = start[..] {
            let (safetensors, contents) = Safetensors::open(path, same)?;
            (Kind::Safetensors(safetensors), contents)
        } else {
            let mut budget = MemoryBudget::default();
            let (container, nodes) = Container::open(path, same, &mut budget)?;
            let contents = find_tensor_groups(&nodes, &mut budget).map_err(|what| ForeignError::content(path, what))?;
            (Kind::Torch(container), contents)
        };
        let source = Source { path: path.to_owned(), file, length: metadata.len(), kind };
        Ok(ForeignFile { contents, source })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.source.path
    }

    /// Its type.
    pub fn contents(&self) -> &FileContents {
        &self.contents
    }

    /// Returns its contents, and the source of the elements.
    pub fn into_parts(self) -> (FileContents, Source) {
        (self.contents, self.source)
    }

    /// The bytes of the elements of one of its tensors; see [`Source::read`].
    ///
    /// # Errors
    /// They are not where the file declares them, or are damaged; the error names the tensor.
    pub fn read(&mut self, name: &str, tensor: &Tensor) -> Result<Vec<u8>, ForeignError> {
        self.source.read(name, tensor)
    }
}

impl Source {
    /// Returns the format: `pytorch` or `safetensors`.
    pub fn format(&self) -> &'static str {
        match self.kind {
            Kind::Torch(_) => "pytorch",
            Kind::Safetensors(_) => "safetensors",
        }
    }

    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Parameters that a model in a file of this size may have.
    pub fn most_parameters(&self) -> u64 {
        self.length.saturating_mul(MAX_PARAMETERS_PER_BYTE)
    }

    /// The digest by which the file can be distinguished, wherever it lies.
    ///
    /// # Errors
    /// A system call fails.
    pub fn digest(&self) -> Result<blake3::Hash, ForeignError> {
        let mut hasher = blake3::Hasher::new();
        let whole = FromStart { file: &self.file, at: 0 };
        hasher.update_reader(whole).map_err(|error| ForeignError::file("read", &self.path, error))?;
        Ok(hasher.finalize())
    }

    /// Looks at the storage of a tensor and at the part that the tensor reaches, and allocates nothing for it.
    ///
    /// # Errors
    /// The elements are not where the file declares them, or are damaged; the error names the tensor.
    pub fn check(&mut self, name: &str, tensor: &Tensor) -> Result<(), ForeignError> {
        match &mut self.kind {
            Kind::Torch(container) => container.locate(&self.path, name, tensor).map(drop),
            Kind::Safetensors(safetensors) => safetensors.locate(&self.path, name, tensor).map(drop),
        }
    }

    /// The bytes of the elements of one of its tensors, little-endian, in the tensor's order.
    ///
    /// # Errors
    /// They are not where the file declares them, or are damaged; the error names the tensor.
    pub fn read(&mut self, name: &str, tensor: &Tensor) -> Result<Vec<u8>, ForeignError> {
        match &mut self.kind {
            Kind::Torch(container) => container.read(&self.path, name, tensor),
            Kind::Safetensors(safetensors) => safetensors.read(&self.path, name, tensor),
        }
    }
}

/// Refuses what is no file with a beginning and an end.
fn regular(path: &Path, metadata: &Metadata) -> Result<(), ForeignError> {
    match metadata {
        folder if folder.is_dir() => Err(ForeignError::content(path, "is a folder; name the file in it")),
        other if !other.is_file() => Err(ForeignError::content(path, "is a pipe or a device, and no file")),
        _ => Ok(()),
    }
}

/// A file from its first byte, wherever its shared cursor is.
struct FromStart<'f> {
    file: &'f File,
    at: u64,
}

impl Read for FromStart<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read_at(bytes, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
