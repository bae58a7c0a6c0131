//! `cwm.toml`, beside the pipeline file: what belongs to a site and not to the pipeline. Where the store is, which remotes
//! there are, what does the work. Nothing in it enters a key, and no credential may stand in it.
//!
//! Read as the pipeline is: text -> a tree with places -> what it says, all faults at once. It knows no plan and no network.

mod address;
mod edit;
mod folder;
mod read;
mod slurm;
#[cfg(test)]
mod tests;
mod tree;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use address::without_secrets;
pub use address::{Address, Bucket};
pub use edit::{NewRemote, add_remote, remove_remote};
pub use folder::real;
pub use slurm::{JobStore, Slurm};

use serde::{Deserialize, Serialize};

use cwm_core::diagnostics::Diagnostics;

/// What does the stages' work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExecutorKind {
    /// Processes on this machine.
    #[default]
    Local,
    /// Jobs of Slurm.
    Slurm,
}

/// What `cwm.toml` says; without such a file, nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Site {
    /// Where the store is, absolute.
    pub store: Option<PathBuf>,
    /// What does the work.
    pub executor: ExecutorKind,
    /// Where results are shared, in the order of the file.
    pub remotes: Vec<Remote>,
    /// How jobs of Slurm are to be.
    pub slurm: Slurm,
}

/// A place in which results are shared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remote {
    /// What people call it.
    pub name: String,
    /// Where it is, as written.
    pub url: String,
    /// The same, understood.
    pub address: Address,
    /// Whether nothing is to be written to it: it says so, or it is read by HTTP.
    pub read_only: bool,
    /// Of S3: the server, where it is not Amazon's.
    pub endpoint: Option<String>,
    /// Of S3: the region.
    pub region: Option<String>,
    /// How long it may be silent before it counts as not reached.
    pub timeout: Duration,
}

impl Site {
    /// The site's file for the pipeline in `pipeline`.
    pub fn path_for(pipeline: &Path) -> PathBuf {
        pipeline.with_file_name("cwm.toml")
    }

    /// What the site's file beside `pipeline` says; without one, nothing.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the order of the text.
    pub fn of(pipeline: &Path) -> Result<Site, Diagnostics> {
        read::read(&Site::path_for(pipeline))
    }

    /// The remote of this name.
    pub fn remote(&self, name: &str) -> Option<&Remote> {
        self.remotes.iter().find(|remote| remote.name == name)
    }
}
