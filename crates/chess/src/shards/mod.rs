//! Games and token sequences as folders of Arrow IPC files, read in place through a memory map.
//!
//! Both formats are described in `docs/formats.md`. A folder holds files `games-00000.arrow`, `games-00001.arrow`, …
//! (`dataset-…` likewise), at least one, each with at most a given number of rows, uncompressed, in record batches of
//! at most 16,384 rows. The schema's metadata name the format (`cwm.format`) and its version (`cwm.version`).

mod columns;
mod dataset;
mod error;
mod files;
mod games;

pub use dataset::{Dataset, DatasetRow, DatasetWriter};
pub use error::ShardError;
pub use games::{GameRow, Games, GamesWriter};

/// Rows of one file, unless said otherwise.
pub const SHARD_GAMES: u64 = 1_000_000;

#[cfg(test)]
mod tests;
