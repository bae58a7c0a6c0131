//! Fetches games from outside: from a URL, or from a file, which is then used where it is. It sees bytes, lengths and
//! sums, and must not know what is in them.

mod checksum;
mod config;
mod fetch;
mod local;
mod partial;
mod reply;
mod run;
mod settings;

pub use config::Config;
pub use run::Download;

#[cfg(test)]
mod fault_server;
#[cfg(test)]
mod tests;
