//! Keeping a store in order: roots, tags, sizes, garbage collection (`docs/design/housekeeping.md`).
//!
//! It depends on lock files, tags, running stages and the store, not on YAML or plans.

mod check;
mod collect;
mod eviction_plan;
mod reachability;
mod roots;
pub mod selection;
pub mod tags;
#[cfg(test)]
mod tests;
mod time_span;
mod unkept;
mod usage;

pub use check::check;
pub use collect::{GcOptions, GcPlan, GcReport, collect, plan};
pub use reachability::Retention;
pub use roots::{BatchJobs, Root, forget, record_run, register, roots};
pub use time_span::parse_time_span;
pub use unkept::evict_content;
pub use usage::{StageUsage, Usage};
