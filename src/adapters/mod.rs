//! Joins crates of the executor that do not know each other.

mod jobs;
mod remote;

use std::path::Path;

use cwm_core::Error;
use cwm_project::site::{Remote, RemoteKinds};

pub use jobs::SlurmJobs;
pub use remote::Remotes;

/// The kinds of remotes of this program, for the readers of cwm.toml.
pub const REMOTE_KINDS: &dyn RemoteKinds = &cwm_remote::Kinds;

/// Refuses a remote that is a store, or lies in one, such as the `own` store.
///
/// # Errors
/// It does.
pub fn check_is_no_store(remote: &Remote, own: &Path) -> Result<(), Error> {
    cwm_remote::check_is_no_store(remote, Some(own))
}
