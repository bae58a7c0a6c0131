//! How many of each kind to take, so that kinds have wanted shares: by full move, and by more margins.
//!
//! This crate must not know what is counted.

mod fullmoves;
mod raking;

pub use fullmoves::Fullmoves;
pub use raking::{largest_remainders, numbers, rake};
