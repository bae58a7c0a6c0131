//! The stage `pretrained`: a model that another program trained, from its file, as a checkpoint.
//!
//! It must not know how files are read or models are recognised, which is `cwm-foreign`'s, nor of games.

mod config;
mod stage;
#[cfg(test)]
mod tests;

pub use stage::Pretrained;
