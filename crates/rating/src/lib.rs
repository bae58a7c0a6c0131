//! Elo ratings of a player, from its games against levels whose ratings are known.
//!
//! [`in_turn`] is the rule of "Causal masking on spatial data" (arXiv 2510.27009), [`likeliest`] the rating by maximum
//! likelihood. All ratings are in Elo: 400 Elo more are ten times the odds. This crate must not depend on chess or files.

mod in_turn;
mod interval;
mod level;
mod likeliest;
mod text;

#[cfg(test)]
mod golden;

pub use in_turn::{PAPERS_DRAW, START, STEP, in_turn};
pub use interval::{Interval, interval};
pub use level::{Level, RATING_LIMIT, RatingError};
pub use likeliest::{CHANCE, Rating, difference, likeliest};
