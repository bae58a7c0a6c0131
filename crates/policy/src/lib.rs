//! Models that choose a move: the 1,968 moves that they choose among, the forms in which they read a position or a game,
//! and the words that continue a legal move.
//!
//! Ids and symbols are those of ChessBench and of the code of "Causal masking on spatial data" (arXiv 2510.27009). This crate
//! must not depend on files, engines or models.

pub mod actions;
pub mod answers;
pub mod inputs;
pub mod origins;
pub mod replay;

#[cfg(test)]
mod golden;
