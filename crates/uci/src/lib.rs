//! Chess engines that speak UCI (the Universal Chess Interface), as child processes, and the rule by which Stockfish
//! weakens itself.
//!
//! [`Engine`] starts a program, queries it about one position after the other, and ends it. Before every position the
//! engine forgets the last one (`ucinewgame`) and it has one thread, so that the result for a number of nodes or a depth
//! depends on the position and the program alone: not on the order of the positions, the number of processes, or the
//! time. Time limits only turn a search that does not end into an error.
//!
//! [`Level`] chooses a move as an engine of a level (`Skill Level`) does, but from numbers that are given.
//!
//! This crate depends on programs, their lines and their limits. It must not depend on pipelines, files of games, or models.

mod engine;
mod failure;
mod levels;
mod options;
mod process;
mod search;
mod search_root;
#[cfg(test)]
mod tests;

pub use cwm_evaluations::Score;
pub use engine::Engine;
pub use levels::{KNOWN_ENGINES, KnownEngine, Level};
pub use options::Settings;
pub use process::{check_program, digest};
pub use search::{Bound, Limit, Line, SearchResult};
pub use search_root::SearchRoot;
