//! The settings of jobs: those of `cwm.toml`, and defaults.

use std::num::NonZeroU32;
use std::time::Duration;

use super::isolated::RemoteStoreConfig;
use cwm_project::site;

/// The settings of jobs. They are in no key.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSettings {
    /// The settings of `cwm.toml`.
    pub site: site::Slurm,
    /// Cores of a stage that takes all there are (`cpu: all`).
    pub cpus: u32,
    /// The shortest time between two looks at the queue; while nothing changes they become rarer, up to twelve times that.
    pub poll: Duration,
    /// The time after which a job that is visible neither in the queue nor in the store counts as lost.
    pub visibility_timeout: Duration,
    /// The number of times that a cell is submitted again whose job was lost or whose node failed.
    pub resubmit: u32,
    /// The remotes that jobs exchange content with, if they do not share the run's store.
    pub remote_store: Option<RemoteStoreConfig>,
}

impl From<&site::Slurm> for JobSettings {
    fn from(site: &site::Slurm) -> Self {
        JobSettings {
            cpus: site.cpus.map_or(8, NonZeroU32::get),
            poll: site.poll.unwrap_or(Duration::from_secs(5)),
            // A network file system may hide new files for a minute.
            visibility_timeout: site.visibility_timeout.unwrap_or(Duration::from_secs(60)),
            resubmit: site.resubmit.unwrap_or(3),
            site: site.clone(),
            remote_store: None,
        }
    }
}
