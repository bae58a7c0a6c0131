//! Games: read from PGN, named, put into buckets, kept in Arrow files, and accounted for.
//!
//! The numbers that stand for moves and positions are defined by `cwm-encoding`. This crate must not depend on
//! pipelines or models; of the stage contract it uses the failure that its errors become, and the context that receives
//! the account.

mod corpus_stats;
mod identity;
pub mod pgn;
pub mod sample;
mod shards;

pub use corpus_stats::{CorpusStats, DropReason};
pub use identity::{IdKey, bucket};
pub use shards::{
    Columns, Dataset, DatasetColumns, DatasetRow, DatasetWriter, Game, GameColumns, GameLabelsError, GameRow, Games,
    GamesWriter, SHARD_GAMES, ShardError, Shards,
};
