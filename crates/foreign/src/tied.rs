//! Heads of language models that are saved beside the table of tokens although they are that table.

use std::path::Path;

use crate::error::ForeignError;
use crate::file::Source;
use crate::tensor::Tensor;
use crate::tensor_groups::{FileContents, TensorGroup};

/// The name of the head in nanoGPT and GPT-2.
const HEAD: &str = "lm_head.weight";

/// The name of the table beside it.
const TABLE: &str = "transformer.wte.weight";

/// Removes each head that has the values of its table: what is left is a model with a tied head.
///
/// # Errors
/// A head or a table cannot be read, or a head has other values than its table.
pub fn remove_tied_heads(path: &Path, contents: &mut FileContents, source: &mut Source) -> Result<(), ForeignError> {
    for group in &mut contents.groups {
        let Some((place, head, table)) = head_and_table(group) else { continue };
        if !is_same(source, head, table)? {
            let (head, table) = (head.0, table.0);
            let what = format!("holds no model of ours: `{head}` is not the table `{table}`, as in a GPT-2");
            return Err(ForeignError::content(path, what));
        }
        _ = group.tensors.remove(place);
    }
    Ok(())
}

/// A tensor and its name.
type NamedTensor<'g> = (&'g str, &'g Tensor);

/// The head of a group with its place, and the table beside it.
fn head_and_table(group: &TensorGroup) -> Option<(usize, NamedTensor<'_>, NamedTensor<'_>)> {
    let tensors = || group.tensors.iter().map(|(name, tensor)| (name.as_str(), tensor.as_ref().ok()));
    let (place, (head, tensor)) = tensors().enumerate().find(|(_, (name, _))| name.ends_with(HEAD))?;
    let wrapping = head.strip_suffix(HEAD)?;
    let (table, beside) = tensors().find(|(name, _)| name.strip_prefix(wrapping) == Some(TABLE))?;
    Some((place, (head, tensor?), (table, beside?)))
}

/// Returns true if both have the same values. Tensors that no model of a file of this size has are not read.
fn is_same(source: &mut Source, head: NamedTensor<'_>, table: NamedTensor<'_>) -> Result<bool, ForeignError> {
    let ((head_name, head), (table_name, table)) = (head, table);
    if head == table {
        return Ok(true);
    }
    let is_alike = head.shape == table.shape && head.storage.element == table.storage.element;
    let is_possible = head.elements().is_some_and(|elements| elements <= source.most_parameters());
    if !is_alike || !is_possible || !head.storage.element.is_float() {
        return Ok(false);
    }
    source.check(head_name, head)?;
    source.check(table_name, table)?;
    Ok(source.read(head_name, head)? == source.read(table_name, table)?)
}
