//! Assigns examples to batches: a function of the step, so that a run continues anywhere, in memory that does not grow
//! with the examples.

mod authors;
mod buckets;
mod permutation;

pub use authors::Shards;
pub use buckets::{Batches, Batching};

use authors::WorkerStreams;
use permutation::{Key, Permutation};

/// Order of examples within an epoch.
#[derive(Clone, Debug)]
pub enum Order {
    /// The order of the dataset, every epoch alike.
    File,
    /// Uniform over all examples, anew in each epoch.
    Shuffled {
        /// Decides the order.
        seed: u64,
    },
    /// The order of the authors' program: shards in random order, anew in each epoch, and batches from several processes.
    Authors {
        /// Decides the order.
        seed: u64,
        /// The examples in each shard.
        shards: Shards,
        /// Number of loading processes; 0 is one stream, as 1.
        workers: usize,
    },
}

/// Draws batches: every example once an epoch; the last batch of an epoch, or of each loading process, may be smaller.
#[derive(Clone, Debug)]
pub struct Sampler {
    examples: usize,
    batch_size: usize,
    order: Order,
    current: Epoch,
}

/// A pass over all examples.
#[derive(Clone, Debug)]
pub struct Epoch {
    /// The number, from 0.
    pub number: u64,
    /// Its first step; steps count from 0.
    pub first: u64,
    /// Its batches.
    pub steps: u64,
    order: EpochOrder,
}

/// The algorithm that finds the batches of an epoch.
#[derive(Clone, Debug)]
enum EpochOrder {
    InOrder,
    Permuted(Permutation),
    Interleaved(WorkerStreams),
}

impl Sampler {
    /// Over `examples` examples, at least one.
    pub fn new(examples: usize, batch_size: usize, order: Order) -> Self {
        let current = begin(examples, batch_size, &order, 0, 0);
        Sampler { examples, batch_size, order, current }
    }

    /// The epoch of step `step`, counted from 0.
    pub fn epoch(&mut self, step: u64) -> &Epoch {
        if step < self.current.first {
            self.current = begin(self.examples, self.batch_size, &self.order, 0, 0);
        }
        while step - self.current.first >= self.current.steps {
            // All epochs are of one length, but for those of several processes: a process has other shards in each.
            let Epoch { number, first, steps, .. } = self.current;
            let passed = if matches!(self.order, Order::Authors { .. }) { 1 } else { (step - first) / steps };
            self.current = begin(self.examples, self.batch_size, &self.order, number + passed, first + passed * steps);
        }
        &self.current
    }

    /// Returns true if an epoch begins at step `step`, which is then the number of steps that make whole epochs.
    pub fn begins_epoch(&mut self, step: u64) -> bool {
        self.epoch(step).first == step
    }

    /// Steps of the first `epochs` epochs.
    pub fn steps_of(&mut self, epochs: u64) -> u64 {
        if !matches!(self.order, Order::Authors { .. }) {
            return self.current.steps.saturating_mul(epochs);
        }
        let mut steps = 0;
        for _ in 0..epochs {
            steps += self.epoch(steps).steps;
        }
        steps
    }

    /// Examples of the batch of step `step`, counted from 0, as places in the dataset.
    pub fn batch(&mut self, step: u64) -> Vec<usize> {
        let (examples, batch_size) = (self.examples, self.batch_size);
        let epoch = self.epoch(step);
        let index = step - epoch.first;
        let start = index as usize * batch_size;
        let places = start..(start + batch_size).min(examples);
        match &epoch.order {
            EpochOrder::InOrder => places.collect(),
            EpochOrder::Permuted(permutation) => places.map(|place| permutation.at(place as u64) as usize).collect(),
            EpochOrder::Interleaved(streams) => streams.batch(index),
        }
    }
}

/// The epoch `number`, whose first step is `first`.
fn begin(examples: usize, batch_size: usize, order: &Order, number: u64, first: u64) -> Epoch {
    let order = match order {
        Order::File => EpochOrder::InOrder,
        Order::Shuffled { seed } => {
            let key = Key { seed: *seed, epoch: number, part: 0, purpose: b"cwm order: games" };
            EpochOrder::Permuted(Permutation::new(examples as u64, key))
        }
        Order::Authors { seed, shards, workers } => {
            EpochOrder::Interleaved(WorkerStreams::new(shards, *workers, batch_size, *seed, number))
        }
    };
    let steps = match &order {
        EpochOrder::Interleaved(streams) => streams.batches(),
        EpochOrder::InOrder | EpochOrder::Permuted(_) => examples.div_ceil(batch_size) as u64,
    };
    Epoch { number, first, steps, order }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Examples of which every fifth of the corpus is missing, in shards of 7.
    fn authors(examples: usize, workers: usize, seed: u64) -> Order {
        let ordinals = (0..examples as u64).map(|place| Ok(place + place / 4));
        Order::Authors { seed, shards: Shards::read(ordinals, 7).unwrap(), workers }
    }

    proptest! {
        #[test]
        fn every_example_comes_once_an_epoch(
            examples in 1usize..300,
            batch_size in 1usize..50,
            seed: u64,
            number in 0u64..5,
            workers in 0usize..4,
        ) {
            for order in [Order::File, Order::Shuffled { seed }, authors(examples, workers, seed)] {
                let mut sampler = Sampler::new(examples, batch_size, order);
                let first = sampler.steps_of(number);
                let steps = sampler.steps_of(number + 1) - first;
                prop_assert!(sampler.begins_epoch(first));
                prop_assert_eq!(sampler.epoch(first + steps - 1).number, number);
                prop_assert!((1..steps).all(|step| !sampler.begins_epoch(first + step)));
                let mut all: Vec<usize> = (first..first + steps).flat_map(|step| sampler.batch(step)).collect();
                let full = (first..first + steps).filter(|step| sampler.batch(*step).len() == batch_size).count() as u64;
                prop_assert!(full + workers.max(1) as u64 >= steps);
                all.sort_unstable();
                prop_assert!(all.into_iter().eq(0..examples));
            }
        }

        #[test]
        fn a_step_is_the_same_however_it_is_reached(steps in prop::collection::vec(0u64..60, 1..20), workers in 0usize..4) {
            for order in [Order::File, Order::Shuffled { seed: 3 }, authors(83, workers, 3)] {
                let mut wandering = Sampler::new(83, 8, order.clone());
                for step in &steps {
                    prop_assert_eq!(wandering.batch(*step), Sampler::new(83, 8, order.clone()).batch(*step));
                }
            }
        }
    }

    #[test]
    fn epochs_and_seeds_differ() {
        let order = |seed| Order::Shuffled { seed };
        let mut sampler = Sampler::new(1000, 1000, order(1));
        let (first, second) = (sampler.batch(0), sampler.batch(1));
        assert_ne!(first, second);
        assert_ne!(Sampler::new(1000, 1000, order(2)).batch(0), first);
        let at_home = first.iter().enumerate().filter(|(i, example)| i == *example).count();
        assert!(at_home < 10, "{at_home} examples stayed in place");
    }

    /// The paper's corpus, for which the protocol counts 77,735 to 77,738 batches an epoch.
    #[test]
    fn an_epoch_of_the_paper_has_as_many_batches_as_it_says() {
        // Nobody has the authors' ids: each two-hundredth example is taken for validation instead.
        let ordinals = (0..10_000_000u64).filter(|ordinal| ordinal % 200 != 77).map(Ok);
        let shards = Shards::read(ordinals, 1_000_000).unwrap();
        assert_eq!(shards.count(), 10);
        for (workers, most) in [(0, 77_735), (4, 77_738)] {
            let order = Order::Authors { seed: 0, shards: shards.clone(), workers };
            let mut sampler = Sampler::new(9_950_000, 128, order);
            for epoch in 0..4 {
                let steps = sampler.steps_of(epoch + 1) - sampler.steps_of(epoch);
                assert!((77_735..=most).contains(&steps), "{steps} of {workers} workers in epoch {epoch}");
            }
        }
    }

    #[test]
    fn far_steps_of_huge_sets_are_reached_at_once() {
        let mut sampler = Sampler::new(100_000_000, 128, Order::Shuffled { seed: 1 });
        let steps = sampler.epoch(0).steps;
        assert_eq!(steps, 781_250);
        for step in [0, steps - 1, steps, 1_000_000 * steps + 17] {
            let batch = sampler.batch(step);
            assert!(batch.len() == 128 && batch.iter().all(|example| *example < 100_000_000), "{step}");
        }
        assert_eq!(sampler.epoch(1_000_000 * steps + 17).number, 1_000_000);
        // Whatever the number of examples, it is a permutation's few keys and nothing on the heap.
        assert!(matches!(sampler.current.order, EpochOrder::Permuted(_)));
        assert!(size_of::<Sampler>() <= 256);
    }

    /// Kilobytes that this process has of its own.
    fn own_memory() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().trim().parse().unwrap()
    }

    /// Each order has every example of an epoch once; and, for people, the time that drawing them took.
    /// `docs/design/training.md` has the figures of 10^8 examples, which `CWM_ORDER_EXAMPLES=100000000` measures: then
    /// with `--nocapture --test-threads 1`.
    #[test]
    fn an_epoch_has_every_example_once_and_takes_no_memory_for_each() {
        let requested =
            std::env::var("CWM_ORDER_EXAMPLES").ok().map(|examples| examples.parse().expect("a number of examples"));
        let examples: usize = requested.unwrap_or(2_000_000);
        // The corpus has one example in two hundred more, for validation.
        let ordinals = (0..examples as u64).map(|place| Ok(place + place / 199));
        let before = own_memory();
        let authors =
            |workers| Order::Authors { seed: 0, shards: Shards::read(ordinals.clone(), 1_000_000).unwrap(), workers };
        for (name, order) in [("shuffled", Order::Shuffled { seed: 0 }), ("authors, 4 processes", authors(4))] {
            let mut seen = vec![0u64; examples.div_ceil(64)];
            let mut sampler = Sampler::new(examples, 128, order);
            let (steps, mut order, mut most) = (sampler.steps_of(1), 0, 0);
            for step in 0..steps {
                for example in sampler.batch(step) {
                    seen[example / 64] |= 1 << (example % 64);
                    order += 1;
                }
                if step % 10_000 == 0 {
                    most = most.max(own_memory());
                }
            }
            assert_eq!(
                (order, seen.iter().map(|bits| bits.count_ones() as usize).sum()),
                (examples, examples),
                "{name}"
            );
            // What was seen is a bit an example, and this test's own. Other tests' memory counts too, unless this runs
            // alone.
            let own = most.saturating_sub(before + (seen.len() * 8 / 1024) as u64);
            println!("{name}: {steps} steps, {own} kB");
            assert!(requested.is_none() || own < 4_096, "{name}: {own} kB");
        }
    }
}
