//! Files of GPT-2 as the library `transformers` saves it: matrices are [in, out], and masks lie beside the parameters.

use std::path::Path;

use crate::error::ForeignError;
use crate::tensor::Tensor;
use crate::tensor_groups::{FileContents, TensorGroup};

/// The end of a name that shows a block of GPT-2.
pub const QUERIES: &str = ".attn.c_attn.weight";

/// Buffers of a block that hold the causal mask.
const MASKS: [&str; 2] = [".attn.bias", ".attn.masked_bias"];

/// The matrices of a block, with outputs and inputs in multiples of the model's width.
const MATRICES: [(&str, u64, u64); 4] =
    [(QUERIES, 3, 1), (".attn.c_proj.weight", 1, 1), (".mlp.c_fc.weight", 4, 1), (".mlp.c_proj.weight", 1, 4)];

/// Removes the masks of each group of GPT-2's tensors and turns its matrices, if they are [in, out]. Returns true if any were.
///
/// A square matrix does not show which it is: it is what the other matrices of its group are.
///
/// # Errors
/// Matrices of one group are of both kinds.
pub fn transpose_matrices(path: &Path, contents: &mut FileContents) -> Result<bool, ForeignError> {
    let mut is_turned = false;
    for group in
        contents.groups.iter_mut().filter(|group| group.tensors.iter().any(|(name, _)| name.ends_with(QUERIES)))
    {
        group.tensors.retain(|(name, _)| !MASKS.iter().any(|mask| name.ends_with(mask)));
        match (find(group, |outputs, inputs| [inputs, outputs]), find(group, |outputs, inputs| [outputs, inputs])) {
            (Some((name, turned)), Some((other, usual))) => {
                let (turned, usual) = (&turned.shape, &usual.shape);
                return Err(ForeignError::content(
                    path,
                    format!("has `{name}` as [in, out], {turned:?}, and `{other}` as [out, in], {usual:?}"),
                ));
            }
            (Some(_), None) => {
                let matrices = group.tensors.iter_mut().filter(|(name, _)| matrix(name).is_some());
                for tensor in matrices.filter_map(|(_, tensor)| tensor.as_mut().ok()) {
                    tensor.shape.reverse();
                    tensor.strides.reverse();
                }
                is_turned = true;
            }
            (None, _) => {}
        }
    }
    Ok(is_turned)
}

/// Outputs and inputs of the matrix of this name, in multiples of the width.
fn matrix(name: &str) -> Option<(u64, u64)> {
    MATRICES.into_iter().find(|(end, ..)| name.ends_with(end)).map(|(_, outputs, inputs)| (outputs, inputs))
}

/// The first matrix that is not square and whose axes have the proportion that `order` gives to outputs and inputs.
fn find(group: &TensorGroup, order: impl Fn(u64, u64) -> [u64; 2]) -> Option<(&str, &Tensor)> {
    group.tensors.iter().find_map(|(name, tensor)| {
        let (outputs, inputs) = matrix(name).filter(|(outputs, inputs)| outputs != inputs)?;
        let (tensor, [first, second]) = (tensor.as_ref().ok()?, order(outputs, inputs));
        let &[rows, columns] = &tensor.shape[..] else { return None };
        let is_so = rows.checked_mul(second).is_some_and(|product| Some(product) == columns.checked_mul(first));
        is_so.then_some((name.as_str(), tensor))
    })
}
