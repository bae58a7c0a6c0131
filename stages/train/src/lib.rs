//! The stage `train`: a model from token sequences, by the paper's protocol.
//!
//! It depends on its datasets, the 75 labels and its parameters; the loop itself is `cwm-training`. It must not depend on
//! which families there are (the registry of `cwm-models` does), how a dataset was made, or what becomes of its
//! checkpoint.

mod config;
mod data;
mod description;
mod probe;
mod resolved_config;
mod run;
mod stage;
mod task;
#[cfg(test)]
mod tests;
mod validation;
mod work;

pub use stage::Train;
