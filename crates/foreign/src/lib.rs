//! Models that other programs saved: PyTorch's checkpoints and safetensors, read without executing anything, and
//! recognised as models of ours (`docs/design/checkpoints.md`).
//!
//! It knows files and names of tensors. It must not know of pipelines, of games, or how models are trained; and no
//! training rests on it, so that a better reader reruns none.

mod adopt;
mod element;
mod error;
mod file;
mod names;
mod pickle;
mod recognise;
mod safetensors;
mod tensor;
mod torch;
mod walk;

pub use adopt::{Adopted, adopt};
pub use element::Element;
pub use error::ForeignError;
pub use file::{ForeignFile, Source};
pub use recognise::{Wish, denial};
pub use tensor::{Storage, Tensor};
pub use walk::{Contents, Group};

#[cfg(test)]
mod tests;
