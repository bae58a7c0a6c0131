//! The format `matches`: games between two players, how each ended, and its moves.
//!
//! One Parquet file, a row a game; `docs/formats.md` has its columns. Files are written and read a batch at a time, so that
//! memory does not grow with them. This crate must not depend on how games are played, or what is computed from their
//! results.

mod columns;
mod game;
mod players;
mod rows;
mod schema;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use cwm_table::{Row, TableReader, TableWriter};

pub use game::{End, Game};
pub use players::{EngineName, Participant, Players};

/// A file of matches, row by row.
pub type Matches = TableReader<Game>;

/// Writes matches in the order in which they come.
pub type MatchesWriter = TableWriter<Game>;

impl Row for Game {
    type Description = Players;

    const FORMAT: &'static str = "a matches";
    const KEY: &'static str = "cwm.players";

    fn schema() -> SchemaRef {
        schema::schema()
    }

    fn columns(rows: &[Self]) -> Vec<ArrayRef> {
        columns::columns(rows)
    }

    fn rows(batch: &RecordBatch, _before: u64) -> Result<Vec<Self>, String> {
        rows::rows(batch)
    }
}

#[cfg(test)]
mod tests;
