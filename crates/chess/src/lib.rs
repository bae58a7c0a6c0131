//! Games: read from PGN, named, put into buckets, and kept in Arrow files.
//!
//! What moves and positions are as numbers is `cwm-encoding`'s. This crate must not know of pipelines, models or
//! labels; of the stage contract it uses only the failure that its errors become.

mod identity;
pub mod pgn;
mod shards;

pub use identity::{IdKey, bucket};
pub use shards::{Dataset, DatasetRow, DatasetWriter, GameRow, Games, GamesWriter, SHARD_GAMES, ShardError};
