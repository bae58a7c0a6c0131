//! The training loop, whatever is trained: order of the examples, prefetching, steps of AdamW with a guard against
//! numbers that are not finite, validation, checkpoints and resuming, curves, throughput, the parameters of all these.
//!
//! It identifies examples by their place in a data set and an objective by its loss ([`Examples`], [`Objective`],
//! [`Validation`]). Batches that depend on the weights are made by the stage, step by step ([`TrainingLoop::steps`]).
//! This crate must not depend on what an example is, which head or labels a model has, which family it is of, or what
//! becomes of its outputs: those are the matter of the stage that trains.

mod backend;
mod best;
pub mod checkpoint_file;
pub mod checkpoints;
pub mod curves;
mod description;
pub mod device_trainer;
pub mod hyperparameters;
mod mapped_memory;
mod objective;
pub mod optimiser;
pub mod order;
mod prefetch;
pub mod schedule;
mod state;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod throughput;
mod trainer;
mod training_loop;
mod validation_set;
pub mod warm_start;
pub mod work;

pub use best::BestWeights;
pub use description::describe;
pub use mapped_memory::MappedPages;
pub use objective::{Examples, Metrics, Objective, Validation};
pub use state::State;
pub use throughput::Throughput;
pub use trainer::{StepMetrics, Trainer};
pub use training_loop::{Settings, TrainingLoop, TrainingResult};
pub use validation_set::ValidationSet;
