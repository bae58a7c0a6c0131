//! A game as it is played: when it ends by the rules of chess, its own stream of random numbers, and its text (PGN).
//!
//! This crate must not depend on who plays, or on files.

mod ending;
mod pgn;
mod stream_rng;

pub use ending::{DrawRules, Ending, GameState, won_by};
pub use pgn::{Headers, pgn_text};
pub use stream_rng::StreamRng;
