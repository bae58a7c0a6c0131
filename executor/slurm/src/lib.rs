//! Slurm: the cells of a run as batch jobs.
//!
//! What a job recorded in the store is the truth; the queue only tells why there is nothing yet. [`SlurmExecutor`] hands cells to a cluster, which submits
//! ([`submit`]) and watches ([`watch`]) from a thread of its own, by files in `batches/` of the store ([`batch`]) from which
//! any other run, or the next one, knows the same. What a job does that does not read that store is [`crate::isolated`]. `docs/design/slurm.md` says why.

mod batch;
mod binary;
mod cluster;
mod detach;
mod ends;
mod events_file;
mod executor;
mod flight;
pub mod isolated;
mod judge;
mod node;
mod program;
mod put_back;
mod queue;
mod request;
mod said;
mod settings;
mod settled;
mod standing;
mod stuck;
mod submit;
mod watch;

pub use batch::{awaited_keys, ended_batches, unused_binaries};
pub use detach::{Detached, detach};
pub use executor::SlurmExecutor;
pub use judge::Fault;
pub use node::{Task, task};
pub use request::Request;
pub use settings::Settings;
pub use standing::{Standing, standings};
