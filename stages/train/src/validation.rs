//! Measuring on games that are not learnt from.

use std::ops::Range;

use cwm_contract::{Context, Failure};
use cwm_models::batch::MicroBatch;
use cwm_models::lanes::Lanes;
use cwm_models::metrics::Tally;
use cwm_models::scoring::score;
use cwm_models::{Network, Placed};

use crate::data::Games;

/// Games that are cut and measured at once; as many as are validated on by default. Those are held, more are not.
const AT_ONCE: usize = 1_280;

/// Games measured on.
pub struct Validation {
    games: Games,
    count: usize,
    /// The first of them, cut once.
    first: Vec<MicroBatch>,
}

impl Validation {
    /// The first `limit` of `games`.
    ///
    /// # Errors
    /// One of them is no game.
    pub fn new(games: Games, limit: u64) -> Result<Self, Failure> {
        let count = games.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
        let first = games.micro_batches(&places(0..count.min(AT_ONCE)))?;
        Ok(Validation { games, count, first })
    }

    /// Which games they are.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn digest(&self) -> Result<String, Failure> {
        self.games.digest(self.count)
    }

    /// How the weights that were `placed` do. Sums run in the order of the games.
    ///
    /// # Errors
    /// The stage was asked to stop, or one of those that were not looked at before is no game.
    pub fn measure(
        &mut self,
        context: &Context,
        network: &Network,
        placed: &Placed,
        lanes: &Lanes,
    ) -> Result<Tally, Failure> {
        let mut tally = Tally::default();
        for begin in (0..self.count).step_by(AT_ONCE) {
            let part = begin..self.count.min(begin + AT_ONCE);
            let size = part.len();
            let cut = if begin > 0 { Some(self.games.micro_batches(&places(part))?) } else { None };
            let micro_batches = cut.as_ref().unwrap_or(&self.first);
            let scores = lanes.map(micro_batches.len(), |index| {
                context.check_cancelled().map(|()| score(network, placed, &micro_batches[index]))
            });
            let mut by_game = vec![Vec::new(); size];
            for (micro_batch, scores) in micro_batches.iter().zip(scores) {
                for (&game, scores) in micro_batch.games.iter().zip(scores?) {
                    by_game[game] = scores;
                }
            }
            by_game.iter().for_each(|game| tally.add_game(game));
            self.games.release_pages();
        }
        Ok(tally)
    }
}

fn places(range: Range<usize>) -> Vec<usize> {
    range.collect()
}
