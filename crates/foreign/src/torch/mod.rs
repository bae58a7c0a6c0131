//! Files of `torch.save`: a pickle that names storages, and the storages.

mod archive;
mod container;
mod legacy;
mod reconstruct;

pub use container::Container;
pub use reconstruct::{ReconstructedObject, reconstruct};
