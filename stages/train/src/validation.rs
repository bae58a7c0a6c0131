//! Measuring on games that are not learnt from.

use std::ops::Range;

use cwm_contract::{Context, Failure};
use cwm_models::heads::labels::{MicroBatch, Tally, score};
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{DeviceWeights, Network};
use cwm_training::Validation;

use crate::data::Games;
use crate::task::LabelMetrics;

/// Games that are cut and measured at once; as many as are validated on by default. Those are held, more are not.
const AT_ONCE: usize = 1_280;

/// Games measured on.
pub struct LabelValidation<'a> {
    network: &'a Network,
    workers: &'a WorkerPool,
    games: Games,
    count: usize,
    /// The first of them, cut once.
    first: Vec<MicroBatch>,
}

impl<'a> LabelValidation<'a> {
    /// The first `limit` of `games`.
    ///
    /// # Errors
    /// One of them is no game.
    pub fn new(games: Games, limit: u64, network: &'a Network, workers: &'a WorkerPool) -> Result<Self, Failure> {
        let count = games.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
        let first = games.cut(&places(0..count.min(AT_ONCE)))?;
        Ok(LabelValidation { network, workers, games, count, first })
    }

    /// Returns the digest of the games.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn digest(&self) -> Result<String, Failure> {
        self.games.digest(self.count)
    }
}

impl Validation<LabelMetrics> for LabelValidation<'_> {
    fn measure(&mut self, context: &Context, weights: &DeviceWeights<'_>) -> Result<LabelMetrics, Failure> {
        let mut tally = Tally::default();
        for begin in (0..self.count).step_by(AT_ONCE) {
            let part = begin..self.count.min(begin + AT_ONCE);
            let size = part.len();
            let cut = if begin > 0 { Some(self.games.cut(&places(part))?) } else { None };
            let micro_batches = cut.as_ref().unwrap_or(&self.first);
            let scores = self.workers.map(micro_batches.len(), |index| {
                context.check_cancelled().map(|()| score(self.network, weights, &micro_batches[index]))
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
        Ok(LabelMetrics(tally))
    }
}

fn places(range: Range<usize>) -> Vec<usize> {
    range.collect()
}
