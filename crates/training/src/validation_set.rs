//! Examples that are measured on and not learnt from.

use cwm_contract::{Context, Failure};
use cwm_models::worker_pool::WorkerPool;

use crate::Examples;

/// Examples that are cut and measured at once; as many as are validated on by default. Those are held, more are not.
const AT_ONCE: usize = 1_280;

/// The first examples of a data set.
#[derive(Debug)]
pub struct ValidationSet<E: Examples> {
    examples: E,
    count: usize,
    /// The first of them, cut once.
    first: Vec<E::MicroBatch>,
}

impl<E: Examples<MicroBatch: Sync>> ValidationSet<E> {
    /// The first `count` of `examples`.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn new(mut examples: E, count: usize) -> Result<Self, Failure> {
        let first = examples.micro_batches(&places(0, count.min(AT_ONCE)))?;
        Ok(ValidationSet { examples, count, first })
    }

    /// Number of examples.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The data set.
    pub fn examples(&self) -> &E {
        &self.examples
    }

    /// Scores all micro-batches on `workers`. `scores` gives those of each example of a micro-batch, by the example's place in
    /// the list that was cut; `add` gets them in the order of the examples.
    ///
    /// # Errors
    /// An example cannot be read, or the stage was cancelled.
    pub fn measure<S: Send>(
        &mut self,
        context: &Context,
        workers: &WorkerPool,
        scores: impl Fn(&E::MicroBatch) -> Vec<(usize, S)> + Sync,
        mut add: impl FnMut(S),
    ) -> Result<(), Failure> {
        for begin in (0..self.count).step_by(AT_ONCE) {
            let part = places(begin, self.count.min(begin + AT_ONCE));
            let cut = if begin > 0 { Some(self.examples.micro_batches(&part)?) } else { None };
            let micro_batches = cut.as_ref().unwrap_or(&self.first);
            let scored = workers
                .map(micro_batches.len(), |index| context.check_cancelled().map(|()| scores(&micro_batches[index])));
            let mut by_example: Vec<Option<S>> = part.iter().map(|_| None).collect();
            for scores in scored {
                scores?.into_iter().for_each(|(example, scores)| by_example[example] = Some(scores));
            }
            by_example.into_iter().flatten().for_each(&mut add);
        }
        Ok(())
    }
}

fn places(begin: usize, end: usize) -> Vec<usize> {
    (begin..end).collect()
}
