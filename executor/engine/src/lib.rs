//! Runs a plan: it finds what is cached, what has to run and why, and runs it.

mod action;
mod cause;
mod child;
mod estimate;
mod event;
mod executor;
mod explain;
mod fetch;
mod local;
mod lock_updates;
mod lookup;
mod machine;
mod pipes;
mod predict;
mod preview;
mod reasons;
mod retry;
mod run;
mod scheduler;
mod status;

pub use action::output_of;
pub use cause::{Cause, CodeChange, differences};
pub use estimate::{Estimate, Estimates, TotalEstimate};
pub use event::{Direction, EventSink, EventSinks, FailedCell, RunEvent, SkippedCell};
pub use executor::{BatchExecutor, Cancel, Executor, ExecutorEvent, ExecutorEvents, Start, Task};
pub use explain::{Explainer, Reason};
pub use fetch::{FetchFailure, RemoteTransfers, TransferUpdate, UpdateSender, UploadId, UploadItem, UploadOutcome};
pub use lock_updates::{checksum_conflicts, fetch_requests, update_lock_file, update_pins};
pub use lookup::{RunInputs, input_origins, sources};
pub use machine::Machine;
pub use pipes::ingest_pipes;
pub use predict::{CellPrediction, predict};
pub use preview::preview;
pub use reasons::differences_of;
pub use run::{Options, Outcome, RunReport, SaveResults, Summary, run, stop_signals};
pub use status::{CacheStatus, CellStatus, KeyStatus, describe_unread_pipe};
