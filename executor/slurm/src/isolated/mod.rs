//! Runs an action on a node that does not share the run's store (`store = "remote"` under [slurm] in cwm.toml). The node has a
//! store of its own, and content moves through a remote.
//!
//! Small files stay in the run's store, the *home store*: the action file, the log and at the end the record, which is marked
//! as not pulled. Inputs are pulled by hash, the action runs in the node's store, and the result is pushed as `cwm push` does.
//! The record is put into the home store last, so that the files of whatever is recorded there can be fetched.

mod isolated_action;
mod node_store;
mod staged_files;

pub use isolated_action::perform;

use serde::{Deserialize, Serialize};

use cwm_project::config::Remote;

/// The remotes that an isolated job exchanges content with. It holds no credentials: those are the node's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteStoreConfig {
    /// The remotes that content is pulled from, in this order. Results go to the first.
    pub remotes: Vec<Remote>,
    /// The folder of a store that the jobs of a node share, in which variables of the node are replaced. Without one, each job
    /// has a temporary store.
    pub scratch: Option<String>,
}

impl RemoteStoreConfig {
    /// Returns the name of the remote that results go to.
    pub fn push_remote(&self) -> &str {
        self.remotes.first().map_or("", |remote| &remote.name)
    }
}
