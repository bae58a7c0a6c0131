//! Fetches files from outside, such as games: from URLs, or from files. It sees bytes, lengths and sums, and must not depend
//! on what is in them. The reasons are in `docs/design/download.md`.

mod checksum;
mod config;
mod expectation;
mod fetch;
mod local;
mod month;
mod partial;
mod published;
mod reply;
mod retry_budget;
mod run;
mod transfer;

pub use config::Config;
pub use run::Download;

#[cfg(test)]
#[path = "../../../crates/web/src/fault_server.rs"]
mod fault_server;
#[cfg(test)]
mod tests;
