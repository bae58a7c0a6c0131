//! The command line of cwm, the terminal, and the wiring of the executor's crates and the stages.
//!
//! It knows no chess and no models; stages are the crates under `stages/`, met through `cwm-contract`. What is below is
//! `executor/*`; `docs/architecture.md` draws the whole.

pub mod adapters;
pub mod cli;
pub mod commands;
pub mod curves;
pub mod events;
mod fingerprint;
pub mod registry;
