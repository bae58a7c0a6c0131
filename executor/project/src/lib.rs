//! The text files beside a pipeline: lock files, pins of downloads, accepted changes of code, and `cwm.toml`.
//!
//! This crate reads and writes them. It depends on neither plans nor the store.

pub mod accepted;
pub mod config;
mod line_file;
pub mod lock_file;
pub mod pins;
pub mod runs;

pub use line_file::fold_problems;
