//! Batches made ahead of the model on a thread of their own.

use std::ops::Range;

use crossbeam_channel::{Receiver, bounded};
use cwm_contract::Failure;
use cwm_models::batch::MicroBatch;

use crate::data::Games;
use crate::order::Batches;

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

impl Batch {
    /// Number of positions that are learnt from.
    pub fn positions(&self) -> usize {
        self.micro_batches.iter().map(|micro_batch| micro_batch.tokens.valid()).sum()
    }
}

/// Runs `train` with the batches of `steps` in order. When `train` returns, whatever was made ahead is dropped.
///
/// # Errors
/// What `train` fails with.
pub fn with_batches<R>(
    mut games: Games,
    mut batches: Batches,
    mut steps: Range<u64>,
    train: impl FnOnce(&Receiver<Result<Batch, Failure>>) -> Result<R, Failure>,
) -> Result<R, Failure> {
    std::thread::scope(|scope| {
        let (sender, receiver) = bounded(AHEAD);
        scope.spawn(move || {
            let mut make = |step| {
                games.release_pages();
                let places = batches.batch(step, |place| games.length(place))?;
                Ok(Batch { step, micro_batches: games.micro_batches(&places)? })
            };
            while let Some(step) = steps.next() {
                let batch = make(step);
                let failed = batch.is_err();
                if sender.send(batch).is_err() || failed {
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
