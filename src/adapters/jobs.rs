//! Batch jobs of Slurm, as garbage collection sees them.

use std::collections::HashSet;
use std::path::PathBuf;

use cwm_core::Key;
use cwm_gc::BatchJobs;
use cwm_store::Store;
use jiff::Timestamp;

/// The jobs that runs of a store submitted to Slurm.
pub struct SlurmJobs;

impl BatchJobs for SlurmJobs {
    fn pending_keys(&self, store: &Store) -> HashSet<Key> {
        cwm_slurm::pending_keys(store)
    }

    fn garbage(&self, store: &Store, time: Timestamp) -> Vec<PathBuf> {
        cwm_slurm::garbage(store, time)
    }
}
