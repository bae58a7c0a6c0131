//! Slurm: the cells of a run as batch jobs.
//!
//! The store is the truth: a job succeeded if it recorded its result. The queue only says why there is no result yet. A thread
//! of its own submits ([`submit`]) and watches ([`watch`]). It keeps what it submitted in `batches/` of the store
//! ([`batch`]), where any other run finds it. `docs/design/slurm.md` says why.

mod apply_outcomes;
mod batch;
mod binary;
mod detach;
mod events_file;
mod executor;
pub mod isolated;
mod job_output;
mod queue;
mod queue_status;
mod request;
mod settings;
mod slurm_cli;
mod submit;
mod submitted_task;
mod task;
mod task_entry;
mod task_outcome;
mod watch;

pub use batch::{ended_batches, pending_keys, unused_job_binaries};
pub use detach::{DetachedRun, detach};
pub use executor::SlurmExecutor;
pub use queue_status::{QueueStatus, query_queue};
pub use request::ResourceRequest;
pub use settings::Settings;
pub use task_entry::{TaskEntry, task_entry};
