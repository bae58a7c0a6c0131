//! The settings of jobs.

use super::isolated::RemoteStoreConfig;
use cwm_project::config;

/// The settings of jobs. They are in no key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobSettings {
    /// The settings of `cwm.toml`. The default of each is where it is used.
    pub slurm: config::SlurmConfig,
    /// The remotes that jobs exchange content with, if they do not share the run's store.
    pub remote_store: Option<RemoteStoreConfig>,
}
