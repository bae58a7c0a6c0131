//! AdamW over all parameters at once, and the global norm of gradients (models.md §1.5).

mod adamw;
mod norm;

pub(crate) use adamw::Factors;
pub use adamw::{AdamW, AdamWOptions};
pub use norm::{clip_factor, norm};
