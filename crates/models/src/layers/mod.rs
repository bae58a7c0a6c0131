//! Layers that several families share.

mod convolution;
mod embedding;
mod linear;
pub mod mamba;
mod norm;

pub use convolution::ShortConvolution;
pub use embedding::Embedding;
pub use linear::Linear;
pub use norm::{LayerNorm, RmsNorm};
