//! Batches made ahead of the model on a thread of their own.

use std::ops::Range;

use crossbeam_channel::{Receiver, bounded};
use cwm_contract::Failure;

use crate::Examples;
use crate::order::Batches;

/// Batches that wait, at most; enough to hide a slow one.
const QUEUE: usize = 4;

/// The batch of one step.
#[derive(Debug)]
pub struct Batch<B> {
    /// The step, counted from 0.
    pub step: u64,
    /// Its micro-batches.
    pub micro_batches: Vec<B>,
}

/// Batches in the order of their steps; after a failure none follows.
pub type BatchReceiver<B> = Receiver<Result<Batch<B>, Failure>>;

/// Runs `train` with the batches of `steps` in order. When `train` returns, batches that were made ahead are dropped.
///
/// # Errors
/// The error of `train`.
pub fn with_batches<E: Examples, R>(
    mut examples: E,
    mut batches: Batches,
    steps: Range<u64>,
    train: impl FnOnce(&BatchReceiver<E::MicroBatch>) -> Result<R, Failure>,
) -> Result<R, Failure> {
    std::thread::scope(|scope| {
        let (sender, receiver) = bounded(QUEUE);
        scope.spawn(move || {
            let mut make = |step| {
                let places = batches.batch(step, |place| examples.length(place))?;
                Ok(Batch { step, micro_batches: examples.micro_batches(&places)? })
            };
            for step in steps {
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
