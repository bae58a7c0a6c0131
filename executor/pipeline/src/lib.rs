//! From a pipeline file to a plan: read with places, resolved and checked.
//!
//! This crate knows YAML and the parameters of stages. It knows no store, no digest of a file and no process.

pub mod plan;
pub mod schema;
pub mod spec;
