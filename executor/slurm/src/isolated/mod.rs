//! An action done away from the store that asked for it: on a node with a store of its own, which shares content with others
//! through a remote (`store = "remote"` under [slurm] in cwm.toml).
//!
//! From the run's store, its *home*, it takes the action file; and home goes what is small: the log, and at the end the record, marked
//! as not pulled. What it reads is pulled by hash, the work is done in its own store as ever, the result is pushed as `cwm push`
//! does, and only then the record goes home. So the files of whatever stands recorded there can be had.

mod courier;
mod errand;
mod ground;
mod mirror;

pub use errand::perform;

use serde::{Deserialize, Serialize};

use cwm_project::site::{Remote, Site};

/// How an action comes by what it reads, and its result to others. It holds no credentials: those are the node's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Away {
    /// Where content comes from, in this order; results go to the first.
    pub remotes: Vec<Remote>,
    /// The folder of a store that the jobs of a node share, in which variables stand for what they are there. Without one, each
    /// job has a store that goes with it.
    pub scratch: Option<String>,
}

impl Away {
    /// The remotes, as if a site's file held them in this order.
    pub fn site(&self) -> Site {
        Site { remotes: self.remotes.clone(), ..Site::default() }
    }

    /// The name of the remote to which results go.
    pub fn to(&self) -> &str {
        self.remotes.first().map_or("", |remote| &remote.name)
    }
}
