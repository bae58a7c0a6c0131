//! The shared parts of our HTTP clients: the agent with its time limits, certificates and proxy; the classification of
//! errors; waits.
//!
//! This crate must not depend on what is requested. `fault_server.rs` is a server that misbehaves, for the tests of its
//! users.

mod agent;
mod error;
mod proxy;
mod settings;
mod wait;

#[cfg(test)]
mod fault_server;

pub use agent::agent;
pub use error::{FetchError, classify, retry_after};
pub use proxy::Variables;
pub use settings::Settings;
pub use ureq;
pub use wait::{in_background, pause};
