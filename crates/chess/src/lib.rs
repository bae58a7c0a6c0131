//! Games: read from PGN, named, put into buckets, and kept in Arrow files.
//!
//! What moves and positions are as numbers is `cwm-encoding`'s. This crate must not know of pipelines or models;
//! of the stage contract it uses only the failure that its errors become.

mod identity;
pub mod pgn;
mod shards;

pub use identity::{IdKey, bucket};
pub use shards::{
    Columns, Dataset, DatasetColumns, DatasetRow, DatasetWriter, Game, GameColumns, GameRow, Games, GamesWriter,
    LabelError, SHARD_GAMES, ShardError, Shards,
};
