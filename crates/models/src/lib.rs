//! The model families in Burn behind one trait, and what training and testing them needs: loss, optimiser, checkpoints.
//!
//! This crate knows tensors and labels as numbers. It must not know chess (what a label means), files of games,
//! pipelines, or where a batch comes from; of the stage contract it uses only the failure that its errors become and the
//! choice of a device. Each family lives alone below [`families`]; what two families share lives
//! outside it.

pub mod architecture;
pub mod batch;
pub mod checkpoint;
pub mod device;
mod error;
pub mod families;
pub mod gradient;
pub mod heads;
pub mod lanes;
#[cfg(test)]
mod laws;
pub mod layers;
pub mod loss;
pub mod metrics;
mod network;
pub mod noise;
pub mod ops;
pub mod optimiser;
pub mod parameters;
#[cfg(test)]
mod parity;
mod pass;
mod precision;
pub mod resident;
pub mod scoring;
pub mod size;
pub mod streaming;
#[cfg(test)]
mod testing;
pub mod tokens;

pub use architecture::Architecture;
pub use burn::tensor::Device;
pub use error::ModelError;
pub use network::{Model, Network};
pub use pass::{Observation, Pass, Placed};
pub use precision::Precision;
pub use size::Size;
pub use streaming::{Memory, Stepwise};
pub use tokens::Tokens;
