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
        let batches = cwm_slurm::ended_batches(store, time);
        let binaries = cwm_slurm::unused_job_binaries(store, &batches, time);
        batches.into_iter().chain(binaries).collect()
    }
}
