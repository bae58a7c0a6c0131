//! Joins crates of the executor that do not know each other.

mod jobs;
mod remote;

use cwm_project::site::RemoteKinds;

pub use jobs::SlurmJobs;
pub use remote::{Remotes, remote_message, run_event};

/// The kinds of remotes of this program, for the readers of cwm.toml.
pub const REMOTE_KINDS: &dyn RemoteKinds = &cwm_remote::Kinds;
