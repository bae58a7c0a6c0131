//! The stage `pretrained`: a model that another program trained, from its file, as a checkpoint.
//!
//! It must not depend on how files are read or models are recognised, which is `cwm-foreign`'s, or on games.

mod config;
mod stage;
#[cfg(test)]
mod tests;

pub use stage::Pretrained;
