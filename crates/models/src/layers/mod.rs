//! Layers that several families share.

mod embedding;
mod linear;
mod norm;

pub use embedding::Embedding;
pub use linear::Linear;
pub use norm::RmsNorm;
