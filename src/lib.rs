//! The executor of cwm: from a pipeline file to results in a store, and the command line around it.
//!
//! It knows no chess and no models; stages are the crates under `stages/`, met through `cwm-contract`. A pipeline goes
//! through four hands that never look back: [`spec`] (what was written, with places), [`plan`] (resolved and checked),
//! [`engine`] (what is cached, what runs, and why), [`exec`] (one action, in a process of its own). `docs/architecture.md`
//! draws the whole.

pub mod adapters;
pub mod cli;
pub mod commands;
pub mod curves;
pub mod events;
mod fingerprint;
pub mod registry;
