//! The inside of a trained model: what its residual stream holds, site by site, and what reads and changes it.
//!
//! [`Model`] opens a checkpoint, trained or with fresh weights; [`TokenizedGame`] is a game as the model reads it, with
//! the phase and the board of each token; [`Model::by_batch`] passes games through the model, a micro-batch at a time;
//! [`collect`] keeps rows of the stream in a scratch file ([`Rows`]).
//!
//! This crate must not depend on pipelines, how a probe or an autoencoder is optimised, or which tables a paper has.

pub mod alignment;
pub mod autoencoder;
mod batches;
mod collect;
pub mod edit;
pub mod linear_probe;
mod model;
mod model_task;
mod rows;
pub mod sample;
pub mod statistics;
mod tokenized_game;

pub use batches::Batch;
pub use collect::{Collection, WantedGame, collect};
pub use model::{Model, has_duplicates};
pub use model_task::{ModelTask, WeightsSource};
pub use rows::{Rows, RowsWriter, scratch};
pub use tokenized_game::{TokenizedGame, dropped, overlapping_game};

#[cfg(test)]
mod golden;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
