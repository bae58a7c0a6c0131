//! The bootstrap over games: which games each resample draws, and the interval that its results span.
//!
//! This crate must not know what is computed of the games that were drawn.

mod draws;
mod interval;

pub use draws::Draws;
pub use interval::{confidence_interval, is_share};
