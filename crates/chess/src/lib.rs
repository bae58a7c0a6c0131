//! Games: read from PGN, named, put into buckets, kept in Arrow files, and accounted for.
//!
//! What moves and positions are as numbers is `cwm-encoding`'s. This crate must not know of pipelines or models;
//! of the stage contract it uses the failure that its errors become, and the context that the account is told to.

mod identity;
mod ledger;
pub mod pgn;
pub mod sample;
mod shards;

pub use identity::{IdKey, bucket};
pub use ledger::{Ledger, Reason};
pub use shards::{
    Columns, Dataset, DatasetColumns, DatasetRow, DatasetWriter, Game, GameColumns, GameRow, Games, GamesWriter,
    LabelError, SHARD_GAMES, ShardError, Shards,
};
