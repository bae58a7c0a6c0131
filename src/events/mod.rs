//! The four sinks of a run's events ([`cwm_engine::RunEvent`]): the terminal, plain lines, JSON and the run log.

mod cells;
mod costs;
mod failures;
mod json;
mod plain;
mod progress;
mod terminal;
mod text;

pub use json::{Json, RunLog};
pub use plain::Plain;
pub use terminal::Terminal;
