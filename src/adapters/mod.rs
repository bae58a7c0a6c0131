//! Joins crates of the executor that do not know each other.

mod jobs;
mod remote;

pub use jobs::SlurmJobs;
pub use remote::{Remotes, remote_message, run_event};
