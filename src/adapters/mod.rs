//! Joins crates of the executor that do not depend on each other.

mod remote;

pub use remote::{Remotes, remote_message, run_event};

/// The jobs that runs of a store submitted to Slurm, as garbage collection sees them.
pub const SLURM_JOBS: cwm_gc::BatchJobs =
    cwm_gc::BatchJobs { pending_keys: cwm_slurm::pending_keys, garbage: cwm_slurm::garbage };
