//! A file of weights, whichever program wrote it.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::ForeignError;
use crate::safetensors::Safetensors;
use crate::tensor::Tensor;
use crate::torch::Container;
use crate::walk::{Contents, look};

/// An open file: what it holds is known, and tensors are read when they are asked for.
#[derive(Debug)]
pub struct ForeignFile {
    path: PathBuf,
    kind: Kind,
    contents: Contents,
}

#[derive(Debug)]
enum Kind {
    Torch(Container),
    Safetensors(Safetensors),
}

impl ForeignFile {
    /// Opens a file of `torch.save` or a safetensors file; which one it is, its first bytes tell.
    ///
    /// # Errors
    /// It cannot be read, is neither, or is damaged.
    pub fn open(path: &Path) -> Result<Self, ForeignError> {
        let mut start = Vec::new();
        let file = File::open(path).map_err(|error| ForeignError::file("open", path, error))?;
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(ForeignError::content(path, "is a folder; name the file in it"));
        }
        file.take(9).read_to_end(&mut start).map_err(|error| ForeignError::file("read", path, error))?;
        // The length of a header, less than 2^32, then the header, a JSON object.
        let (kind, contents) = if let [.., 0, 0, 0, 0, b'{'] = start[..] {
            let (safetensors, contents) = Safetensors::open(path)?;
            (Kind::Safetensors(safetensors), contents)
        } else {
            let (container, nodes) = Container::open(path)?;
            (Kind::Torch(container), look(&nodes))
        };
        Ok(ForeignFile { path: path.to_owned(), kind, contents })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What wrote it: `pytorch` or `safetensors`.
    pub fn format(&self) -> &'static str {
        match self.kind {
            Kind::Torch(_) => "pytorch",
            Kind::Safetensors(_) => "safetensors",
        }
    }

    /// What it holds.
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// The bytes of the elements of one of its tensors, little-endian, in the tensor's order.
    ///
    /// # Errors
    /// They are not where the file says, or are damaged; the error names the tensor.
    pub fn read(&mut self, name: &str, tensor: &Tensor) -> Result<Vec<u8>, ForeignError> {
        match &mut self.kind {
            Kind::Torch(container) => container.read(&self.path, name, tensor),
            Kind::Safetensors(safetensors) => safetensors.read(&self.path, name, tensor),
        }
    }
}
