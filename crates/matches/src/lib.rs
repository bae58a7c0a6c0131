//! The format `matches`: games between two players, how each ended, and its moves.
//!
//! One Parquet file, a row a game; `docs/formats.md` has its columns. Files are written and read a batch at a time, so that
//! memory does not grow with them. This crate must not know how games are played, or what is computed from their results.

mod game;
mod players;
mod reader;
mod schema;
mod writer;

pub use game::{End, Game};
pub use players::{EngineName, Participant, Players};
pub use reader::Matches;
pub use writer::MatchesWriter;

#[cfg(test)]
mod tests;
