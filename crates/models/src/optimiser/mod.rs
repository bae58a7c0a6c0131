//! AdamW over all parameters at once, the global norm of gradients, and learning-rate schedules (models.md §1.5).

mod adamw;
mod norm;
mod schedule;

pub(crate) use adamw::Factors;
pub use adamw::{AdamW, AdamWOptions};
pub use norm::{clip_factor, norm};
pub use schedule::{Schedule, Shape};
