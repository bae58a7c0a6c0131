//! The order of the authors' program: whole shards in random order, examples in file order within, batches from several
//! loading processes in turn.

use std::ops::Range;
use std::sync::Arc;

use cwm_contract::Failure;
use cwm_random::{MersenneTwister, Random};

/// The distance between the seeds of two epochs.
const SEED_STEP: u128 = 1009;
/// More are a mistake: each epoch goes through their list.
const MOST_SHARDS: u64 = 1_000_000;

/// The examples of the dataset that were in each shard of the corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shards {
    /// The first example of each shard, and the end of the last one.
    starts: Arc<[usize]>,
}

impl Shards {
    /// Reads the shards off `ordinals`: for each example of the dataset its ordinal in the corpus, which was cut into shards
    /// of `shard_size`. Examples that are not in the dataset, such as those for validation, count for their shards all the
    /// same. A shard behind the last example of the dataset is not known of.
    ///
    /// # Errors
    /// The error of an ordinal; or the examples are not in the corpus's order, or in too many shards.
    pub fn read(ordinals: impl Iterator<Item = Result<u64, Failure>>, shard_size: u64) -> Result<Self, Failure> {
        let mut starts = vec![0];
        let mut last = None;
        let mut examples = 0;
        for ordinal in ordinals {
            let ordinal = ordinal?;
            if last.is_some_and(|last| ordinal <= last) {
                let message =
                    format!("example {examples} does not follow the one before it in the corpus: `index` is {ordinal}");
                return Err(Failure::input(message).hint("`order: authors` needs the examples as `split` leaves them"));
            }
            last = Some(ordinal);
            let shard = ordinal / shard_size;
            if shard >= MOST_SHARDS {
                let message = format!("a corpus of {ordinal} examples has too many shards of {shard_size}");
                return Err(Failure::input(message).hint(format!("`shard_games` must make at most {MOST_SHARDS}")));
            }
            while starts.len() as u64 <= shard {
                starts.push(examples);
            }
            examples += 1;
        }
        starts.push(examples);
        Ok(Shards { starts: starts.into() })
    }

    /// Their number.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    fn examples(&self, shard: usize) -> Range<usize> {
        self.starts[shard]..self.starts[shard + 1]
    }
}

/// The examples of one epoch, by loading process.
#[derive(Clone, Debug)]
pub struct WorkerStreams {
    /// One for each loading process.
    streams: Vec<Stream>,
    batch_size: usize,
}

/// The shards of one loading process, read one after another.
#[derive(Clone, Debug, Default)]
struct Stream {
    shards: Vec<Range<usize>>,
    examples: usize,
}

impl WorkerStreams {
    /// The streams of epoch `epoch`: the shards in the order of CPython's `random.Random(seed + 1009 * epoch).shuffle`,
    /// dealt to `workers` processes in turn; without any the program reads them itself, which is one stream too.
    pub fn new(shards: &Shards, workers: usize, batch_size: usize, seed: u64, epoch: u64) -> Self {
        let mut order: Vec<usize> = (0..shards.count()).collect();
        MersenneTwister::from_integer(u128::from(seed) + SEED_STEP * u128::from(epoch)).shuffle(&mut order);
        let mut streams = vec![Stream::default(); workers.max(1)];
        for (at, shard) in order.into_iter().enumerate() {
            let stream = &mut streams[at % workers.max(1)];
            let examples = shards.examples(shard);
            stream.examples += examples.len();
            stream.shards.push(examples);
        }
        WorkerStreams { streams, batch_size }
    }

    /// Number of batches: each process keeps its last one, however small.
    pub fn batches(&self) -> u64 {
        self.after_rounds(u64::MAX)
    }

    /// Examples of batch `index`: a round takes a batch from each process that has any left, in their order, as PyTorch's
    /// `DataLoader` does with an `IterableDataset`.
    pub fn batch(&self, index: u64) -> Vec<usize> {
        // The last round that begins at or before this batch.
        let (mut round, mut beyond) = (0, index + 1);
        while beyond - round > 1 {
            let middle = round + (beyond - round) / 2;
            if self.after_rounds(middle) <= index { round = middle } else { beyond = middle }
        }
        let within = (index - self.after_rounds(round)) as usize;
        let mut left = self.streams.iter().filter(|stream| self.batches_of(stream) > round);
        left.nth(within).map_or_else(Vec::new, |stream| stream.batch(round as usize, self.batch_size))
    }

    /// Batches of the first `rounds` rounds.
    fn after_rounds(&self, rounds: u64) -> u64 {
        self.streams.iter().map(|stream| self.batches_of(stream).min(rounds)).sum()
    }

    fn batches_of(&self, stream: &Stream) -> u64 {
        stream.examples.div_ceil(self.batch_size) as u64
    }
}

impl Stream {
    fn batch(&self, index: usize, batch_size: usize) -> Vec<usize> {
        let mut skipped = index * batch_size;
        let mut examples = Vec::with_capacity(batch_size.min(self.examples - skipped));
        for shard in &self.shards {
            let from = skipped.min(shard.len());
            skipped -= from;
            examples.extend(shard.clone().skip(from).take(batch_size - examples.len()));
            if examples.len() == batch_size {
                break;
            }
        }
        examples
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(serde::Deserialize)]
    struct Case {
        seed: u64,
        #[serde(rename = "games")]
        examples: u64,
        #[serde(rename = "shard_games")]
        shard_size: u64,
        batch_size: usize,
        workers: usize,
        /// The batches of each epoch, each with the ordinals of its examples.
        epochs: Vec<Vec<Vec<u64>>>,
    }

    /// Returns true for the examples that `tests/order-authors.py` leaves out of the training set.
    fn is_validation(ordinal: u64) -> bool {
        ordinal % 7 == 3 || (30..41).contains(&ordinal)
    }

    #[test]
    fn batches_are_those_of_cpython_and_pytorch() {
        let folder = std::path::PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap());
        let text = std::fs::read(folder.join("tests/order-authors.json")).unwrap();
        let cases: Vec<Case> = serde_json::from_slice(&text).unwrap();
        assert!(cases.len() > 30);
        for case in cases {
            let ordinals: Vec<u64> = (0..case.examples).filter(|ordinal| !is_validation(*ordinal)).collect();
            let shards = Shards::read(ordinals.iter().copied().map(Ok), case.shard_size).unwrap();
            for (epoch, expected) in case.epochs.iter().enumerate() {
                let streams = WorkerStreams::new(&shards, case.workers, case.batch_size, case.seed, epoch as u64);
                let batch = |index| streams.batch(index).iter().map(|place| ordinals[*place]).collect::<Vec<_>>();
                let found: Vec<Vec<u64>> = (0..streams.batches()).map(batch).collect();
                let what = (case.seed, case.examples, case.shard_size, case.batch_size, case.workers, epoch);
                assert_eq!(&found, expected, "{what:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_example_comes_once(
            gaps in prop::collection::vec(1u64..9, 1..200),
            shard_size in 1u64..60,
            workers in 0usize..6,
            batch_size in 1usize..20,
            seed: u64,
        ) {
            let ordinals = gaps.iter().scan(0, |sum, gap| { *sum += gap; Some(Ok(*sum)) });
            let shards = Shards::read(ordinals, shard_size).unwrap();
            let streams = WorkerStreams::new(&shards, workers, batch_size, seed, 2);
            let batches: Vec<Vec<usize>> = (0..streams.batches()).map(|index| streams.batch(index)).collect();
            prop_assert!(batches.iter().all(|batch| !batch.is_empty() && batch.len() <= batch_size));
            let small = batches.iter().filter(|batch| batch.len() < batch_size).count();
            prop_assert!(small <= workers.max(1));
            let mut all = batches.concat();
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..gaps.len()));
        }
    }

    #[test]
    fn what_is_no_corpus_in_order_is_refused_in_words() {
        let read = |ordinals: &[u64]| Shards::read(ordinals.iter().copied().map(Ok), 10);
        let message = |ordinals| read(ordinals).unwrap_err().message;
        assert_eq!(message(&[3, 4, 4]), "example 2 does not follow the one before it in the corpus: `index` is 4");
        assert_eq!(message(&[3, 2]), "example 1 does not follow the one before it in the corpus: `index` is 2");
        assert_eq!(message(&[10_000_000]), "a corpus of 10000000 examples has too many shards of 10");
        let shards = read(&[3, 40, 41, 55]).unwrap();
        assert_eq!((shards.count(), &shards.starts[..]), (6, &[0, 1, 1, 1, 1, 3, 4][..]));
        let unreadable = Shards::read([Err(Failure::input("unreadable"))].into_iter(), 10);
        assert_eq!(unreadable.unwrap_err().message, "unreadable");
    }
}
