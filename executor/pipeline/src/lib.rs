//! Turns a pipeline file into a plan: reads it with places, resolves and checks it.
//!
//! This crate depends on YAML and the parameters of stages, not on the store, digests of files or processes.

pub mod plan;
pub mod schema;
pub mod spec;
