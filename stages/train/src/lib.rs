//! The stage `train`: a model from token sequences, by the paper's protocol.
//!
//! It knows datasets, models and their optimiser. It must not know which families there are (the registry of
//! `cwm-models` does), how a dataset was made, or what becomes of its checkpoint.

mod best;
mod choice;
mod config;
mod continuation;
mod curves;
mod data;
mod description;
mod feed;
mod keep;
mod order;
mod pace;
mod probe;
mod resident;
mod run;
mod saved;
mod seat;
mod stage;
#[cfg(test)]
mod tests;
mod trainer;
mod validation;
mod work;

pub use stage::Train;
