//! Weights as a safetensors file.

use std::path::Path;
use std::sync::Arc;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::ModelError;
use crate::parameters::{Layout, Weights};

/// Writes all parameters as f32 under their names.
///
/// # Errors
/// The file cannot be written.
pub fn write_weights(path: &Path, weights: &Weights) -> Result<(), ModelError> {
    let declared = weights.layout().declared();
    let bytes: Vec<Vec<u8>> = (0..declared.len())
        .map(|index| weights.get(index).iter().flat_map(|value| value.to_le_bytes()).collect())
        .collect();
    let views = declared.iter().zip(&bytes).map(|(declared, bytes)| {
        let view = TensorView::new(Dtype::F32, declared.shape.clone(), bytes).expect("shape and bytes fit");
        (declared.name.as_str(), view)
    });
    let file = safetensors::serialize(views, None)
        .map_err(|error| ModelError::content(path, format!("cannot be written: {error}")))?;
    std::fs::write(path, file).map_err(|error| ModelError::file("write", path, error))
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
    let mut weights = Weights::zeros(layout.clone());
    for (index, declared) in layout.declared().iter().enumerate() {
        let name = &declared.name;
        let tensor = file.tensor(name).map_err(|_| wrong(format!("lacks the tensor `{name}`")))?;
        if tensor.shape() != declared.shape {
            return Err(wrong(format!("`{name}` has shape {:?} where {:?} is needed", tensor.shape(), declared.shape)));
        }
        if tensor.dtype() != Dtype::F32 {
            return Err(wrong(format!("`{name}` is {:?} where F32 is needed", tensor.dtype())));
        }
        let values = tensor.data().as_chunks::<4>().0;
        for (value, bytes) in weights.get_mut(index).iter_mut().zip(values) {
            *value = f32::from_le_bytes(*bytes);
        }
    }
    Ok(weights)
}
