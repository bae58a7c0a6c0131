//! The four sinks of a run's events ([`cwm_engine::RunEvent`]): the terminal, plain lines, JSON and the run log.

mod collapsed_hits;
mod failures;
mod json;
mod plain;
mod run_log;
mod terminal;
mod transfers;

pub use cwm_core::text::{duration, plural, short_path};
pub use json::Json;
pub use plain::Plain;
pub use run_log::RunLog;
pub use terminal::Terminal;
