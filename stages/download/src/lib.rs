//! Fetches games from outside: from URLs, or from files. It sees bytes, lengths and sums, and must not know what is in
//! them. `docs/design/download.md` says why it does so.

mod agent;
mod checksum;
mod config;
mod expectation;
mod fetch;
mod local;
mod month;
mod partial;
mod proxy;
mod published;
mod reply;
mod retry_budget;
mod run;
mod settings;
mod transfer;

pub use config::Config;
pub use run::Download;

#[cfg(test)]
mod fault_server;
#[cfg(test)]
mod tests;
