//! From a plan to results: what is cached, what must run and why, and running it.

mod cause;
mod child;
mod components;
mod drain;
mod estimate;
mod event;
mod executor;
mod explain;
mod fetch;
mod finish;
mod history;
mod local;
mod machine;
mod predict;
mod reasons;
mod retry;
mod run;
mod scheduler;
mod status;
mod verify;

pub use cause::{Cause, CodeChange, Line, differences};
pub use components::{Resolved, output_of, resolve};
pub use drain::drain;
pub use estimate::{Estimate, Estimates, Total};
pub use event::{Direction, EventSink, EventSinks, FailedCell, RunEvent, SkippedCell};
pub use executor::{
    ActionUpdate, AttemptFailure, BatchExecutor, Cancel, Executor, ExecutorEvent, ExecutorEvents, Start, Started, Task,
};
pub use explain::{Explainer, Reason, Standing};
pub use fetch::{InputUploader, ResultFetcher, TransferUpdate, UpdateSender, UploadId, UploadItem, UploadOutcome};
pub use finish::{contradictions, fetches, update_lock_file, update_pins};
pub use machine::Machine;
pub use predict::{IncompleteResult, Rebuild, RunPrediction};
pub use reasons::{differences_of, own_causes, previous_record, why_now};
pub use run::{Options, Outcome, RunInputs, RunReport, Summary, run, stop_signals};
pub use status::{CellState, Known, Survey, origin, sources, unread};
pub use verify::{VerifyOptions, VerifyOutcome, verify};
