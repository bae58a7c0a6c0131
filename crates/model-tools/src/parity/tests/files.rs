//! Fixtures taken apart and put together again, to change something in them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use safetensors::View;
use safetensors::tensor::{Dtype, SafeTensors};

/// A tensor of a file.
#[derive(Clone)]
pub struct Stored {
    pub dtype: Dtype,
    pub shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

impl View for &Stored {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// A fixture in pieces.
#[derive(Clone)]
pub struct Pieces(pub BTreeMap<String, Stored>);

impl Pieces {
    pub fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let stored = |view: safetensors::tensor::TensorView<'_>| Stored {
            dtype: view.dtype(),
            shape: view.shape().to_vec(),
            bytes: view.data().to_vec(),
        };
        Pieces(file.tensors().into_iter().map(|(name, view)| (name, stored(view))).collect())
    }

    pub fn write(&self, path: &Path) {
        safetensors::serialize_to_file(self.0.iter(), None, path).unwrap();
    }

    pub fn get(&mut self, name: &str) -> &mut Stored {
        self.0.get_mut(name).unwrap_or_else(|| panic!("the fixture has no `{name}`"))
    }

    /// Changes every f32 of a tensor.
    pub fn map(&mut self, name: &str, change: impl Fn(usize, f32) -> f32) {
        let stored = self.get(name);
        assert_eq!(stored.dtype, Dtype::F32, "{name}");
        for (index, bytes) in stored.bytes.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            *bytes = change(index, f32::from_le_bytes(*bytes)).to_le_bytes();
        }
    }

    /// Writes it, changed by `change`, under the name of the original into a folder without a manifest.
    pub fn changed(&self, folder: &Path, name: &str, change: impl FnOnce(&mut Pieces)) -> PathBuf {
        let mut pieces = self.clone();
        change(&mut pieces);
        let path = folder.join(name);
        pieces.write(&path);
        path
    }
}
