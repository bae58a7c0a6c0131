//! Passes that go on from others: a model that keeps the queries, keys and values of steps passes no step twice.
//!
//! A pass that goes on gives what the whole pass gives but for rounding; on the CPU to the bit. On a GPU, products add in
//! an order that depends on their size: a caller whose results shall not depend on what was kept always cuts a sequence at the
//! same steps.

#[cfg(test)]
mod invariants;

use std::sync::Arc;

use burn::tensor::{Int, Tensor, TensorData};

use crate::ops::attention::EarlierSteps;
use crate::{ForwardPass, Tokens};

pub use crate::ops::attention::ContinuationPoint;

/// The queries, keys and values that the blocks of a model computed for the steps of a batch.
#[derive(Clone, Debug)]
pub struct Cache {
    /// Steps of each sequence, without padding.
    lengths: Arc<[usize]>,
    /// Steps of each sequence, padding included.
    time: usize,
    /// Queries, keys and values of each block: [sequences * time, 3 * width].
    blocks: Vec<Tensor<2>>,
}

impl Cache {
    /// Steps of each sequence, padding included.
    pub fn steps(&self) -> usize {
        self.time
    }

    /// Its only sequence, and behind it the steps of `later`, which go on from it.
    ///
    /// # Panics
    /// One of both has several sequences.
    pub fn followed_by(&self, later: &Cache) -> Cache {
        assert!(self.lengths.len() == 1 && later.lengths.len() == 1, "several sequences have several lengths");
        let both = self.blocks.iter().zip(&later.blocks);
        let blocks = both.map(|(first, second)| Tensor::cat(vec![first.clone(), second.clone()], 0)).collect();
        Cache::of_one(self.time + later.time, blocks)
    }

    /// The first `steps` steps of its only sequence.
    ///
    /// # Panics
    /// It has several sequences, or fewer steps.
    pub fn first(&self, steps: usize) -> Cache {
        assert!(self.lengths.len() == 1 && steps <= self.time, "{steps} steps of {:?}", self.lengths);
        let blocks = self.blocks.iter().map(|block| block.clone().slice([0..steps])).collect();
        Cache::of_one(steps, blocks)
    }

    /// The place behind all steps of a sequence.
    ///
    /// # Panics
    /// There is no such sequence.
    pub fn end_of(&self, sequence: usize) -> ContinuationPoint {
        ContinuationPoint { sequence, steps: self.lengths[sequence] }
    }

    /// The sequences of `later`, which go on from this one as `after` says, with the steps before.
    ///
    /// # Panics
    /// There is not one `after` for each of them, or no such sequence.
    pub fn extended(&self, after: &[ContinuationPoint], later: &Cache) -> Cache {
        let sequences = after.len();
        assert_eq!(sequences, later.lengths.len(), "each sequence goes on from one");
        let lengths: Arc<[usize]> =
            after.iter().zip(&*later.lengths).map(|(after, &steps)| after.steps + steps).collect();
        let time = lengths.iter().copied().max().unwrap_or(0);
        let first_later = self.lengths.len() * self.time;
        let mut rows = Vec::with_capacity(sequences * time);
        for (sequence, (after, &steps)) in after.iter().zip(&*later.lengths).enumerate() {
            rows.extend((0..after.steps).map(|step| (after.sequence * self.time + step) as i32));
            rows.extend((0..steps).map(|step| (first_later + sequence * later.time + step) as i32));
            // What is padded is never looked at.
            rows.resize((sequence + 1) * time, 0);
        }
        let both = self.blocks.iter().zip(&later.blocks);
        let blocks = both.map(|(first, second)| {
            let rows = Tensor::<1, Int>::from_data(TensorData::new(rows.clone(), [rows.len()]), &first.device());
            Tensor::cat(vec![first.clone(), second.clone()], 0).select(0, rows)
        });
        Cache { lengths, time, blocks: blocks.collect() }
    }

    fn of_one(time: usize, blocks: Vec<Tensor<2>>) -> Self {
        Cache { lengths: Arc::new([time]), time, blocks }
    }
}

/// The computation of a family that can go on from steps it has passed.
pub trait Incremental: Send + Sync {
    /// The stream after the embedding [batch * time, width] of tokens with these places in their sequences.
    fn embed(&self, pass: &ForwardPass, tokens: &Tokens, positions: &Tokens) -> Tensor<2>;

    /// The stream [batch * time, width] from `site` through the blocks behind it. `keep` gets queries, keys and values of each
    /// of them; `earlier` gives those of a block for the steps before, if there are any.
    fn blocks_from(
        &self,
        pass: &ForwardPass,
        site: usize,
        x: Tensor<2>,
        tokens: &Tokens,
        earlier: &dyn Fn(usize) -> Option<EarlierSteps>,
        keep: &mut dyn FnMut(Tensor<2>),
    ) -> Tensor<2>;
}

/// A model that goes on from steps it has passed.
#[derive(Clone, Copy)]
pub struct IncrementalNetwork<'n> {
    backbone: &'n dyn Incremental,
    longest: usize,
}

impl<'n> IncrementalNetwork<'n> {
    /// A model with these blocks, which reads at most `longest` tokens.
    pub(crate) fn new(backbone: &'n dyn Incremental, longest: Option<usize>) -> Self {
        IncrementalNetwork { backbone, longest: longest.unwrap_or(usize::MAX) }
    }

    /// The first steps of some sequences: the stream after the last block [batch * time, width], and what others go on from.
    ///
    /// # Panics
    /// As [`Network::flat_logits`](crate::Network::flat_logits).
    pub fn start(&self, pass: &ForwardPass, tokens: &Tokens) -> (Tensor<2>, Cache) {
        self.pass_from(pass, tokens, 0, self.embed(pass, tokens, &tokens.positions()), None)
    }

    /// The steps of some sequences that go on from those of `cache`, each as `after` says: their stream after the last block
    /// [batch * time, width], and what others go on from, without the steps of `cache`.
    ///
    /// # Panics
    /// A sequence is too long, or `cache` has not so many sequences or steps.
    pub fn continue_from(
        &self,
        pass: &ForwardPass,
        cache: &Cache,
        after: &[ContinuationPoint],
        tokens: &Tokens,
    ) -> (Tensor<2>, Cache) {
        let positions = tokens.positions_behind(after.iter().map(|after| after.steps));
        let x = self.embed(pass, tokens, &positions);
        self.pass_from(pass, tokens, 0, x, Some((cache, after)))
    }

    /// One step of each sequence that goes on from `cache`, from its stream `x` [sequences, width] at `site` on: its stream after
    /// the last block, [sequences, width].
    ///
    /// # Panics
    /// As [`IncrementalNetwork::continue_from`].
    pub fn continue_from_site(
        &self,
        pass: &ForwardPass,
        cache: &Cache,
        after: &[ContinuationPoint],
        site: usize,
        x: Tensor<2>,
    ) -> Tensor<2> {
        // Behind the embedding, tokens are their number alone.
        let tokens = Tokens::padded(after.iter().map(|_| &[0][..]), 0);
        self.pass_from(pass, &tokens, site, x, Some((cache, after))).0
    }

    fn embed(&self, pass: &ForwardPass, tokens: &Tokens, positions: &Tokens) -> Tensor<2> {
        let last = positions.ids().iter().copied().max().unwrap_or(0) as usize;
        assert!(last < self.longest, "the step behind {last} others is one too many: the model reads {}", self.longest);
        self.backbone.embed(pass, tokens, positions)
    }

    fn pass_from(
        &self,
        pass: &ForwardPass,
        tokens: &Tokens,
        site: usize,
        x: Tensor<2>,
        earlier: Option<(&Cache, &[ContinuationPoint])>,
    ) -> (Tensor<2>, Cache) {
        // Without a step before, they are the first ones.
        let earlier = earlier.filter(|(cache, after)| {
            let length = |after: &ContinuationPoint| cache.lengths.get(after.sequence).copied();
            let are_there = after.iter().all(|after| length(after).is_some_and(|length| after.steps <= length));
            assert!(after.len() == tokens.batch() && are_there, "{after:?} in {:?}", cache.lengths);
            after.iter().any(|after| after.steps > 0)
        });
        let earlier = earlier.map(|(cache, after)| (cache, Arc::<[ContinuationPoint]>::from(after)));
        let of_block = |block: usize| {
            let (cache, after) = earlier.as_ref()?;
            Some(EarlierSteps { qkv: cache.blocks[block].clone(), time: cache.time, after: after.clone() })
        };
        let mut blocks = Vec::new();
        let x = self.backbone.blocks_from(pass, site, x, tokens, &of_block, &mut |qkv| blocks.push(qkv));
        (x, Cache { lengths: tokens.lengths().clone(), time: tokens.time(), blocks })
    }
}
