//! What the residual stream of a model holds.

pub mod alignment;
pub mod autoencoder;
#[cfg(test)]
mod golden;
