//! Games and token sequences as folders of Arrow IPC files, read through a memory map.
//!
//! Both formats are described in `docs/formats.md`, and why they are so in `docs/design/dataset.md`. Moves and tokens
//! stay where they lie in the map; the other columns are compressed, buffer by buffer, and decoded a batch at a time.
//!
//! - `format`: names, versions and columns.
//! - Writing: `columns` grow, a `body` compresses them into a record batch, `writer` puts batches into files.
//! - Reading: `mapped` finds the batches of files, `header` reads where a batch has its buffers, `batch_buffers` decodes them,
//!   `lists` leaves them in place, `sequence` makes a folder one sequence of games; what was decoded lately is
//!   `block_cache`.
//! - `games` and `dataset`: the two formats. `labels`: those of a dataset's games.

mod batch_buffers;
mod block_cache;
mod body;
mod columns;
mod dataset;
mod error;
mod format;
mod games;
mod header;
mod labels;
mod lists;
mod mapped;
mod sequence;
mod writer;

pub use dataset::{Dataset, DatasetColumns, DatasetRow, DatasetWriter};
pub use error::ShardError;
pub use games::{GameColumns, GameRow, Games, GamesWriter};
pub use labels::GameLabelsError;
pub use sequence::{Columns, Game, Shards};

/// Rows of one file, unless stated otherwise.
pub const SHARD_GAMES: u64 = 1_000_000;

#[cfg(test)]
mod tests;
