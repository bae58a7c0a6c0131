//! The command line of cwm: its words, its commands, and what joins the crates of the executor.
//!
//! It depends on neither chess nor models; stages are the crates under `stages/`, used through `cwm-contract`. Folders use
//! only what is below them: [`dispatch`], `commands`, `workspace`, [`cli`], `locate`, `output` and `hints`.
//! `docs/architecture.md` draws the whole.

mod adapters;
pub mod cli;
mod commands;
mod curves;
pub mod dispatch;
mod events;
mod fingerprint;
mod fold;
mod hints;
mod locate;
mod output;
mod registry;
mod workspace;
