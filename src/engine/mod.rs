//! From a plan to results: what is cached, what must run and why, and running it.

mod cause;
mod child;
mod components;
mod drain;
mod estimate;
mod explain;
mod finish;
mod history;
mod machine;
mod run;
mod schedule;
mod status;

pub use cause::{Cause, CodeChange, Line, differences};
pub use components::{Resolved, code_now, output_of, resolve};
pub use drain::drain;
pub use estimate::{Estimate, Estimates, Total};
pub use explain::{Explainer, Reason, Standing};
pub use finish::{contradictions, export_all, fetches, let_go, update_lock_file, update_pins};
pub use machine::Machine;
pub use run::{Failures, Options, Outcome, Summary, run, stop_signals};
pub use status::{CellState, Known, Survey, differences_of, origin, previous_record, sources, unread, why_now};
