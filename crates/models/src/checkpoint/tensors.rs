//! Weights as a safetensors file.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use safetensors::View;
use safetensors::tensor::{Dtype, SafeTensors};

use crate::ModelError;
use crate::parameters::{Layout, Weights};

/// Floats as a tensor of a safetensors file.
#[derive(Clone, Copy, Debug)]
pub struct Floats<'a> {
    /// Shape of the tensor.
    pub shape: &'a [usize],
    /// Its values, as many as the shape says.
    pub values: &'a [f32],
}

impl View for Floats<'_> {
    fn dtype(&self) -> Dtype {
        Dtype::F32
    }

    fn shape(&self) -> &[usize] {
        self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        self.values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn data_len(&self) -> usize {
        size_of_val(self.values)
    }
}

/// Writes all parameters as f32 under their names.
///
/// # Errors
/// The file cannot be written.
pub fn write_weights(path: &Path, weights: &Weights) -> Result<(), ModelError> {
    let declared = weights.layout().parameters().iter().enumerate();
    let views = declared.map(|(index, declared)| {
        (declared.name.as_str(), Floats { shape: &declared.shape, values: weights.get(index) })
    });
    safetensors::serialize_to_file(views, None, path)
        .map_err(|error| ModelError::content(path, format!("cannot be written: {error}")))
}

/// Reads the parameters of `layout`: each must be there with its shape as f32, and nothing else.
///
/// # Errors
/// No file, not safetensors, or a missing, superfluous or differently shaped tensor; the error names it.
pub fn read_weights(path: &Path, layout: &Arc<Layout>) -> Result<Weights, ModelError> {
    let bytes = std::fs::read(path).map_err(|error| ModelError::file("read", path, error))?;
    let wrong = |message: String| ModelError::content(path, message);
    let file = SafeTensors::deserialize(&bytes).map_err(|error| wrong(format!("is no safetensors file: {error}")))?;
    if let Some(name) = file.names().into_iter().filter(|name| layout.find(name).is_none()).min() {
        return Err(wrong(format!("has a tensor `{name}` that this model does not have")));
    }
    // All is looked at before room is made: a description can ask for any size.
    let mut found = Vec::with_capacity(layout.parameters().len());
    for declared in layout.parameters() {
        let name = &declared.name;
        let tensor = file.tensor(name).map_err(|_| wrong(format!("has no tensor `{name}`")))?;
        if tensor.shape() != declared.shape {
            return Err(wrong(format!("`{name}` has shape {:?} where {:?} is needed", tensor.shape(), declared.shape)));
        }
        if tensor.dtype() != Dtype::F32 {
            return Err(wrong(format!("`{name}` is {:?} where F32 is needed", tensor.dtype())));
        }
        found.push(tensor);
    }
    let mut weights = Weights::zeros(layout.clone());
    for (index, tensor) in found.iter().enumerate() {
        fill(weights.get_mut(index), tensor.data());
    }
    Ok(weights)
}

/// Fills `values` from the bytes of a tensor of so many floats.
pub fn fill(values: &mut [f32], bytes: &[u8]) {
    for (value, bytes) in values.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *value = f32::from_le_bytes(*bytes);
    }
}
