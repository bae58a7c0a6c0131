//! The vocabulary of the executor: digests, keys, errors with exit codes, located text, durable writes.
//!
//! Every other crate of the executor uses these words. This crate knows no pipeline and no store;
//! what differs between operating systems is in [`os`].

pub mod backoff;
pub mod diagnostics;
pub mod digest;
pub mod error;
pub mod exit_code;
pub mod files;
pub mod key;
pub mod located;
pub mod names;
pub mod os;
pub mod registry;
pub mod text;
