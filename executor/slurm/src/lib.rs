//! Slurm: the cells of a run as batch jobs.
//!
//! The store is the truth: a job succeeded if it recorded its result. The queue only shows why there is no result yet. A thread
//! of its own submits ([`submit`]) and watches ([`watch`]). It keeps what it submitted in `batches/` of the store
//! ([`batch`]), where any other run finds it. See `docs/design/slurm.md` for the reasons.

mod batch;
mod binary;
mod detach;
mod executor;
pub mod isolated;
mod job;
mod job_output;
mod messages_file;
mod queue;
mod queue_status;
mod request;
mod settings;
mod slurm_cli;
mod submit;
mod submitted_task;
mod task_outcome;
mod watch;

pub use batch::{garbage, pending_keys};
pub use detach::detach;
pub use executor::SlurmExecutor;
pub use job::exec_task;
pub use queue_status::{QueueStatus, query_queue};
pub use settings::JobSettings;
