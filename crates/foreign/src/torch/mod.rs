//! What `torch.save` writes: a pickle that names storages, and the storages.

mod archive;
mod container;
mod legacy;
mod meaning;

pub use container::Container;
pub use meaning::{Meaning, meaning};
