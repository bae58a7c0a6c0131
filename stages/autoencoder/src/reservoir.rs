//! Rows of the stream in a random order: blocks of consecutive games, each shuffled as a whole.

use cwm_contract::{Context, Failure};
use cwm_inside::{Collection, Model, Rows, RowsWriter, WantedGame, collect};
use cwm_models::worker_pool::WorkerPool;
use cwm_random::{MersenneTwister, Random};
use serde::{Deserialize, Serialize};

use crate::games::Games;

/// The next row in the order of the games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// The game.
    pub game: usize,
    /// The number of its rows that come before.
    pub rows: usize,
}

/// The source of rows: a model and its games.
pub struct Source<'a> {
    /// The model whose stream is kept.
    pub model: &'a Model,
    /// Threads of the CPU.
    pub workers: &'a WorkerPool,
    /// The games, at least one of which has a row.
    pub games: &'a Games,
    /// The sites of the stream whose rows are collected.
    pub collection: Collection,
    /// Seed of the order.
    pub seed: u64,
}

/// Rows of some games.
pub struct Block {
    /// The rows, in the order of the games.
    pub rows: Rows,
    /// A random order of them.
    pub order: Vec<u32>,
    /// The row after the last one.
    pub next: Cursor,
}

impl Source<'_> {
    /// Computes block `number`: so many rows from `cursor` on. After the last game the first comes again.
    ///
    /// # Errors
    /// A game is none, a row is not finite, an operation on the disk fails, or the stage was cancelled.
    pub fn block(&self, context: &Context, number: u64, cursor: Cursor, rows: u64) -> Result<Block, Failure> {
        let mut writer =
            RowsWriter::create(context.temporary(), "rows", self.collection.sites.len(), self.model.width())?;
        let mut wanted = WantedRows { games: self.games, cursor, left: rows as usize };
        collect(context, self.model, self.workers, &self.collection, &mut wanted, &mut writer)?;
        let mut order: Vec<u32> = (0..rows as u32).collect();
        MersenneTwister::from_integer(u128::from(self.seed) << 64 | u128::from(number)).shuffle(&mut order);
        Ok(Block { rows: writer.finish()?, order, next: wanted.cursor })
    }
}

/// The games that have the next rows.
struct WantedRows<'a> {
    games: &'a Games,
    cursor: Cursor,
    left: usize,
}

impl WantedRows<'_> {
    /// The rows of the game at the cursor, which moves on.
    fn next_game(&mut self) -> Result<Option<WantedGame>, Failure> {
        let Cursor { game, rows: before } = self.cursor;
        self.cursor = Cursor { game: (game + 1) % self.games.len(), rows: 0 };
        let Some(reading) = self.games.reading(game)? else { return Ok(None) };
        // The first token's row is an outlier in every game.
        let mut tokens: Vec<usize> = (1..reading.len()).skip(before).collect();
        if tokens.len() > self.left {
            tokens.truncate(self.left);
            self.cursor = Cursor { game, rows: before + self.left };
        }
        self.left -= tokens.len();
        Ok((!tokens.is_empty()).then_some(WantedGame { id: self.games.id(game)?, reading, tokens }))
    }
}

impl Iterator for WantedRows<'_> {
    type Item = Result<WantedGame, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.left > 0 {
            match self.next_game() {
                Ok(None) => {}
                Ok(Some(wanted)) => return Some(Ok(wanted)),
                Err(failure) => {
                    self.left = 0;
                    return Some(Err(failure));
                }
            }
        }
        None
    }
}
