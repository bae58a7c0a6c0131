//! How many positions are drawn of each part of a game, and of each side.

mod buckets;
mod distribution;
mod rounding;

pub use buckets::FullmoveShares;
pub use distribution::Distribution;
pub use rounding::largest_remainders;
