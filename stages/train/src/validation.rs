//! Measuring on games that are not learnt from.

use cwm_contract::{Context, Failure};
use cwm_models::batch::MicroBatch;
use cwm_models::lanes::Lanes;
use cwm_models::metrics::Tally;
use cwm_models::scoring::score;
use cwm_models::{Network, Placed};

use crate::data::Games;

/// Games measured on, cut once.
pub struct Validation {
    micro_batches: Vec<MicroBatch>,
    games: usize,
}

impl Validation {
    /// The first `limit` games.
    ///
    /// # Errors
    /// One of them is no game.
    pub fn new(games: &Games, limit: u64) -> Result<Self, Failure> {
        let count = games.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
        let places: Vec<usize> = (0..count).collect();
        Ok(Validation { micro_batches: games.micro_batches(&places)?, games: count })
    }

    /// How the weights that were `placed` do. Sums run in the order of the games.
    ///
    /// # Errors
    /// The stage was asked to stop.
    pub fn measure(
        &self,
        context: &Context,
        network: &Network,
        placed: &Placed,
        lanes: &Lanes,
    ) -> Result<Tally, Failure> {
        let scores = lanes.map(self.micro_batches.len(), |index| {
            context.check_cancelled().map(|()| score(network, placed, &self.micro_batches[index]))
        });
        let mut by_game = vec![Vec::new(); self.games];
        for (micro_batch, scores) in self.micro_batches.iter().zip(scores) {
            for (&game, scores) in micro_batch.games.iter().zip(scores?) {
                by_game[game] = scores;
            }
        }
        let mut tally = Tally::default();
        by_game.iter().for_each(|game| tally.add_game(game));
        Ok(tally)
    }
}
