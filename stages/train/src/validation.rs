//! Measures on games that are not learnt from.

use cwm_contract::{Context, Failure};
use cwm_models::heads::labels::{LabelTotals, score};
use cwm_models::parameters::Weights;
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{DeviceWeights, Network};
use cwm_training::{Validation, ValidationSet};

use crate::data::Games;
use crate::task::LabelMetrics;

/// Games measured on.
pub struct LabelValidation<'a> {
    network: &'a Network,
    workers: &'a WorkerPool,
    games: ValidationSet<Games>,
}

impl<'a> LabelValidation<'a> {
    /// The first `limit` of `games`.
    ///
    /// # Errors
    /// One of them is no game.
    pub fn new(games: Games, limit: u64, network: &'a Network, workers: &'a WorkerPool) -> Result<Self, Failure> {
        let count = games.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(LabelValidation { network, workers, games: ValidationSet::new(games, count)? })
    }

    /// Returns the digest of the games.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn digest(&self) -> Result<String, Failure> {
        self.games.examples().digest(self.games.count())
    }
}

impl Validation<LabelMetrics> for LabelValidation<'_> {
    fn measure(
        &mut self,
        context: &Context,
        _weights: &Weights,
        device_weights: &DeviceWeights<'_>,
    ) -> Result<LabelMetrics, Failure> {
        let LabelValidation { network, workers, games } = self;
        let mut tally = LabelTotals::default();
        games.measure(
            context,
            workers,
            |games| games.games.iter().copied().zip(score(network, device_weights, games)).collect(),
            |game| tally.add_game(&game),
        )?;
        Ok(LabelMetrics(tally))
    }
}
