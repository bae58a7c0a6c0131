//! The bootstrap over games: which games each resample draws, with which signs, what they sum up to, and the interval that
//! the results span.
//!
//! This crate must not depend on what is summed.

mod draws;
mod interval;
mod totals;

pub use draws::Draws;
pub use interval::{confidence_interval, is_fraction};
pub use totals::{Addend, LANES, Lanes, totals};
