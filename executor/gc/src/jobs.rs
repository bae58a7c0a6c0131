//! Batch jobs, which read a store long after the run that submitted them has ended.

use std::collections::HashSet;
use std::path::PathBuf;

use cwm_core::Key;
use cwm_store::Store;
use jiff::Timestamp;

/// The content of a store that batch jobs still need, and the files that they left. The backend of a cluster implements it.
pub trait BatchJobs {
    /// The keys of the actions that jobs will still do, or do now.
    fn pending_keys(&self, store: &Store) -> HashSet<Key>;

    /// Files and folders of jobs that ended before `time`, which nobody reads any more.
    fn garbage(&self, store: &Store, time: Timestamp) -> Vec<PathBuf>;
}
