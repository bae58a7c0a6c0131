//! Batches made ahead of the model on a thread of their own.

use crossbeam_channel::{Receiver, bounded};
use cwm_contract::Failure;
use cwm_models::batch::MicroBatch;

use crate::data::Games;
use crate::sampler::Sampler;

/// Batches that wait, at most; enough to hide a slow one.
const AHEAD: usize = 4;

/// What one step learns from.
#[derive(Debug)]
pub struct Batch {
    /// The step, counted from 0.
    pub step: u64,
    /// Its games, cut.
    pub micro_batches: Vec<MicroBatch>,
}

/// Runs `train` with the batches of `steps` in order. When `train` returns, whatever was made ahead is dropped.
///
/// # Errors
/// What `train` fails with.
pub fn with_batches<R>(
    games: &Games,
    mut sampler: Sampler,
    steps: std::ops::Range<u64>,
    train: impl FnOnce(&Receiver<Result<Batch, Failure>>) -> Result<R, Failure>,
) -> Result<R, Failure> {
    std::thread::scope(|scope| {
        let (sender, receiver) = bounded(AHEAD);
        scope.spawn(move || {
            for step in steps {
                let batch = games.micro_batches(&sampler.batch(step));
                let failed = batch.is_err();
                if sender.send(batch.map(|micro_batches| Batch { step, micro_batches })).is_err() || failed {
                    return;
                }
            }
        });
        let result = train(&receiver);
        // Without its receiver the thread above ends at its next batch.
        drop(receiver);
        result
    })
}
