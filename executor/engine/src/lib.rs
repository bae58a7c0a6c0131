//! From a plan to results: what is cached, what must run and why, and running it.

mod cause;
mod child;
mod components;
mod estimate;
mod event;
mod executor;
mod explain;
mod fetch;
mod history;
mod local;
mod lock_updates;
mod machine;
mod pipes;
mod predict;
mod reasons;
mod retry;
mod run;
mod scheduler;
mod status;
mod verify;

pub use cause::{Cause, CodeChange, ValueOrigin, differences};
pub use components::{Resolved, output_of, resolve};
pub use estimate::{Estimate, Estimates, TotalEstimate};
pub use event::{Direction, EventSink, EventSinks, FailedCell, RunEvent, SkippedCell};
pub use executor::{
    ActionUpdate, BatchExecutor, Cancel, Executor, ExecutorEvent, ExecutorEvents, Start, Started, Task,
};
pub use explain::{CellStatus, Explainer, Reason};
pub use fetch::{InputUploader, ResultFetcher, TransferUpdate, UpdateSender, UploadId, UploadItem, UploadOutcome};
pub use lock_updates::{checksum_conflicts, fetch_requests, update_lock_file, update_pins};
pub use machine::Machine;
pub use pipes::ingest_pipes;
pub use predict::{IncompleteResult, Rebuild, RunPrediction};
pub use reasons::{differences_of, known_causes, previous_record, rerun_causes};
pub use run::{Options, Outcome, RunInputs, RunReport, Summary, run, stop_signals};
pub use status::{CacheStatus, KeyStatus, ProjectState, describe_unread_pipe, origin, sources};
pub use verify::{VerifyOptions, VerifyOutcome, verify};
