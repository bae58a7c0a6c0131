//! The numbers of positions to draw from each part of a game, and of each side.
//!
//! This crate must not depend on where positions come from, or what they are drawn for.

mod buckets;
mod distribution;
mod rounding;

pub use buckets::FullmoveShares;
pub use distribution::Distribution;
pub use rounding::largest_remainders;
