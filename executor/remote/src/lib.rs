//! Remotes: results shared by hash, in a folder, in an object store, or behind a web server (docs/design/remotes.md).
//!
//! It depends on digests, records, the store and the addresses of `cwm.toml`, not on plans, runs or terminals.
//! `object_store` makes the requests. No other crate of the executor uses tokio, which starts with the first request.
//! What comes from a remote is untrusted until it is checked. A kind of remote is a module in `backends/` and an entry
//! of [`backends::BACKENDS`].

mod backends;
mod client;
mod error;
mod fetch_object;
mod fetch_result;
mod folder_writer;
mod http_connector;
mod index;
mod layout;
mod progress;
mod records;
mod result_bundle;
mod service;
mod transfer;
mod upload_object;
mod upload_result;

pub use backends::{Kinds, OptionKey, check_is_no_store};
pub use error::RemoteError;
pub use result_bundle::ResultBundle;
pub use service::TransferService;
pub use transfer::{FetchStats, RemoteStatus, TransferEvent, TransferRequest, TransferStats};
