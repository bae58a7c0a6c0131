//! How jobs are to be: what `cwm.toml` says, with what it leaves out.

use std::time::Duration;

use crate::isolated::Away;
use cwm_project::site;

/// How jobs are to be. Nothing of it is in a key.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What the site says.
    pub site: site::Slurm,
    /// Cores of a stage that takes whatever there is (`cpu: all`).
    pub cpus: u32,
    /// The shortest time between two looks at the queue; while nothing changes they become rarer, up to twelve times that.
    pub poll: Duration,
    /// How long nothing may be seen of a job, neither in the queue nor in the store, until it is taken for lost.
    pub patience: Duration,
    /// How often a cell is submitted again whose job was lost or whose node failed.
    pub resubmit: u32,
    /// Where jobs do not read the run's store: how they come by content.
    pub away: Option<Away>,
}

impl From<&site::Slurm> for Settings {
    fn from(site: &site::Slurm) -> Self {
        Settings {
            cpus: site.cpus.unwrap_or(8),
            poll: site.poll.unwrap_or(Duration::from_secs(5)),
            // A network file system may hide new files for a minute.
            patience: site.patience.unwrap_or(Duration::from_secs(60)),
            resubmit: site.resubmit.unwrap_or(3),
            site: site.clone(),
            away: None,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings::from(&site::Slurm::default())
    }
}
