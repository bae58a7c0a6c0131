//! Safetensors files: a header in JSON, then the elements.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;

use safetensors::tensor::{Dtype, Metadata};

use crate::element::Element;
use crate::error::ForeignError;
use crate::tensor::{MAX_DIMENSIONS, Storage, Tensor};
use crate::tensor_groups::{FileContents, TensorGroup};

/// No header of a model is longer.
const LONGEST_HEADER: u64 = 16 << 20;

/// An open file.
#[derive(Debug)]
pub struct Safetensors {
    file: File,
    /// First byte of each tensor.
    starts: BTreeMap<String, u64>,
}

impl Safetensors {
    /// Reads the header of `file`, which `path` names.
    ///
    /// # Errors
    /// The file cannot be read, or the header does not fit it.
    pub fn open(path: &Path, mut file: File) -> Result<(Self, FileContents), ForeignError> {
        let wrong = |what: String| ForeignError::content(path, format!("is no safetensors file: {what}"));
        let unread = |error| ForeignError::file("read", path, error);
        let size = file.metadata().map_err(unread)?.len();
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(unread)?;
        let length = u64::from_le_bytes(length);
        if length > LONGEST_HEADER || length + 8 > size {
            return Err(wrong(format!("its header would be {length} bytes long")));
        }
        let mut header = vec![0; length as usize];
        file.read_exact(&mut header).map_err(unread)?;
        let metadata: Metadata = serde_json::from_slice(&header).map_err(|error| wrong(error.to_string()))?;
        let (data, needed) = (size - 8 - length, metadata.data_len() as u64);
        if data != needed {
            return Err(wrong(format!("{needed} bytes should follow its header, and {data} do")));
        }
        let (mut group, mut starts) = (TensorGroup::default(), BTreeMap::new());
        for name in metadata.offset_keys() {
            let Some(info) = metadata.info(&name) else { continue };
            if info.shape.len() > MAX_DIMENSIONS {
                let what = format!("has {} dimensions; {MAX_DIMENSIONS} are read at most", info.shape.len());
                group.tensors.push((name, Err(what)));
                continue;
            }
            let shape: Vec<u64> = info.shape.iter().map(|&length| length as u64).collect();
            // That this is no overflow, and what the offsets say, the header's own check has seen to.
            let storage =
                Storage { key: name.as_str().into(), element: element(info.dtype), length: shape.iter().product() };
            starts.insert(name.clone(), 8 + length + info.data_offsets.0 as u64);
            group.tensors.push((name, Ok(Tensor::contiguous(storage, shape))));
        }
        let settings = metadata.metadata().iter().flatten();
        let settings = settings.map(|(name, value)| (name.clone(), BTreeSet::from([value.clone()]))).collect();
        let groups = if group.tensors.is_empty() { Vec::new() } else { vec![group] };
        Ok((Safetensors { file, starts }, FileContents { groups, settings }))
    }

    /// First byte and number of bytes of a tensor's elements.
    ///
    /// # Errors
    /// There are none.
    pub fn locate(&self, path: &Path, name: &str, tensor: &Tensor) -> Result<(u64, u64), ForeignError> {
        let known = self.starts.get(&*tensor.storage.key).copied();
        let bytes = tensor.storage.element.bytes().and_then(|bytes| bytes.checked_mul(tensor.storage.length));
        known.zip(bytes).ok_or_else(|| ForeignError::content(path, format!("has no elements for `{name}`")))
    }

    /// The bytes of a tensor's elements.
    ///
    /// # Errors
    /// There are none, or a system call fails.
    pub fn read(&self, path: &Path, name: &str, tensor: &Tensor) -> Result<Vec<u8>, ForeignError> {
        let (start, bytes) = self.locate(path, name, tensor)?;
        let size = tensor.storage.element.bytes().unwrap_or(1);
        let mut elements = vec![0; bytes as usize];
        self.file.read_exact_at(&mut elements, start).map_err(|error| ForeignError::file("read", path, error))?;
        Ok(tensor.gather(elements, size as usize))
    }
}

fn element(kind: Dtype) -> Element {
    match kind {
        Dtype::F32 => Element::F32,
        Dtype::F64 => Element::F64,
        Dtype::F16 => Element::F16,
        Dtype::BF16 => Element::BF16,
        other => Element::Other { name: format!("{other:?}").into(), bytes: None },
    }
}
