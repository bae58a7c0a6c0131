//! Models that other programs saved: PyTorch's checkpoints and safetensors, read without executing anything, and
//! recognised as models of ours (`docs/design/checkpoints.md`).
//!
//! It depends on files and names of tensors. It must not depend on pipelines, games, or how models are trained; and no
//! training rests on it, so that a better reader reruns none.

mod element;
mod error;
mod file;
mod gpt2;
mod import;
mod names;
mod pickle;
mod recognise;
mod safetensors;
mod tensor;
mod tensor_groups;
mod tied;
mod torch;

pub use element::Element;
pub use error::ForeignError;
pub use file::{ForeignFile, Source};
pub use import::{ImportedModel, import_model};
pub use recognise::{ImportHints, contradicting_setting};
pub use tensor::{Storage, Tensor};
pub use tensor_groups::{FileContents, TensorGroup};

#[cfg(test)]
mod tests;
