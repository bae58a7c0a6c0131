//! Models in Burn: the blocks of each family, the heads on top of them and their losses, checkpoints.
//!
//! This crate depends on tensors, and labels as numbers. It must not depend on chess (what a label means), files of games,
//! pipelines, how a model is trained, or where a batch comes from; of the stage contract it uses only the failure that
//! its errors become and the choice of a device. Each family lives alone below [`families`]; what two families share lives
//! outside it. Blocks depend on no head: what the logits mean is defined below [`heads`].

pub mod architecture;
mod backbone;
pub mod batch;
pub mod checkpoint;
pub mod counter_rng;
pub mod device;
mod error;
pub mod families;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod gradient;
pub mod head;
pub mod heads;
pub mod incremental;
#[cfg(test)]
mod invariants;
pub mod layers;
pub mod loss;
pub mod network;
pub mod ops;
pub mod parameters;
#[cfg(test)]
mod parity;
mod pass;
mod precision;
pub mod sites;
pub mod size;
pub mod streaming;
#[cfg(test)]
mod testing;
pub mod tokens;
pub mod worker_pool;

pub use architecture::Architecture;
pub use backbone::{Backbone, HeadInit};
pub use burn::tensor::Device;
pub use error::ModelError;
pub use incremental::{Cache, ContinuationPoint, IncrementalNetwork};
pub use network::{Network, RecurrentNetwork};
pub use pass::{DeviceWeights, ForwardPass, Observation};
pub use precision::Precision;
pub use sites::{Change, Edit, Sites};
pub use size::Size;
pub use streaming::{Recurrence, RecurrentState};
pub use tokens::Tokens;
