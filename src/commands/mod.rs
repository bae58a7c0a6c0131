//! The commands, one file each, and what several of them share.

pub mod accept;
mod contents;
pub mod diff;
mod dry_run;
mod executor;
pub mod export;
pub mod init;
pub mod lock;
mod locked_results;
pub mod log;
pub mod model;
mod post_run;
pub mod remote;
mod remote_hints;
mod results;
mod retry_command;
pub mod reward;
pub mod run;
pub mod runs;
pub mod show;
pub mod sql;
pub mod status;
pub mod store;
pub mod transfer;
pub mod uci;
pub mod util;
pub mod why;
