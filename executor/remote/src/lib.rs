//! Remotes: results shared by hash, in a folder, in S3 and what speaks it, in Google's or Azure's storage, or behind a web
//! server (docs/design/remotes.md).
//!
//! It knows digests, records and the store; it knows no plan and no terminal. `object_store` does the talking; tokio stands
//! around that alone, and is started when a remote is first asked. What arrives is hostile until it was checked.

mod begun;
mod client;
mod credentials;
mod download;
mod exchange;
mod fault;
mod folder;
mod index;
mod layout;
mod open;
mod part;
mod pull;
mod push;
mod ranges;
mod records;
mod settings;
mod stale;
mod tally;
mod turns;
mod upload;

pub use exchange::{Exchange, Job, Lack, Presence, Told};
pub use fault::Fault;
pub use push::{Parcel, Pushed};
