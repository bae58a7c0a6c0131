//! From a plan to results: what is cached, what must run and why, and running it.

mod cause;
mod child;
mod components;
mod drain;
mod estimate;
mod explain;
mod fetch;
mod finish;
mod forecast;
mod history;
mod machine;
mod reasons;
mod run;
mod schedule;
mod status;

pub use cause::{Cause, CodeChange, Line, differences};
pub use components::{Resolved, code_now, output_of, resolve};
pub use drain::drain;
pub use estimate::{Estimate, Estimates, Total};
pub use explain::{Explainer, Reason, Standing};
pub use fetch::{Article, ArticleId, Fetcher, Provided, Provider, Tell, Tidings};
pub use finish::{contradictions, export_all, fetches, let_go, let_go_of, update_lock_file, update_pins};
pub use forecast::{Forecast, Lacking, Remade};
pub use machine::Machine;
pub use reasons::{differences_of, own_causes, previous_record, why_now};
pub use run::{Failures, Options, Outcome, Summary, run, stop_signals};
pub use status::{CellState, Known, Survey, origin, sources, unread};
