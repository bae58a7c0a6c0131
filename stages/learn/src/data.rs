//! Sequences to learn from and to measure on.

use std::path::Path;

use cwm_contract::Failure;
use cwm_models::Network;
use cwm_models::batch::cut_by_length;
use cwm_models::heads::choice::MicroBatch;
use cwm_sequences::{NEEDS_MASK, NO_LOSS, Sequence, Sequences, Vocabulary};
use cwm_training::{Examples, MappedPages};

use crate::config::Config;

/// Lengths that are read before the pages that were read are released.
const LENGTHS: usize = 1 << 8;

/// The sequences of an input, which become batches of a model.
#[derive(Debug)]
pub struct Rows {
    name: &'static str,
    sequences: Sequences,
    pages: MappedPages,
    /// Lengths that were requested.
    lengths: usize,
    /// Tokens of the longest sequence that the model reads, if there is a limit.
    longest: Option<usize>,
    /// True if no place of a sequence shows the model a later one.
    is_causal: bool,
    micro_batch_tokens: usize,
}

impl Rows {
    /// Opens the sequences of the input `name`.
    ///
    /// # Errors
    /// They cannot be read, or there are none.
    pub fn open(name: &'static str, path: &Path, config: &Config) -> Result<Self, Failure> {
        let pages = MappedPages::watch();
        let sequences = Sequences::open(path)?;
        if sequences.is_empty() {
            return Err(Failure::input(format!("input `{name}` holds no sequences")));
        }
        let micro_batch_tokens = config.hyper.micro_batch_tokens as usize;
        Ok(Rows { name, sequences, pages, lengths: 0, longest: None, is_causal: true, micro_batch_tokens })
    }

    /// Returns the sequences for this model, which rejects what it cannot read.
    pub fn for_network(self, network: &Network) -> Self {
        Rows { longest: network.longest(), is_causal: network.is_causal(), ..self }
    }

    /// The vocabulary of the sequences.
    pub fn vocabulary(&self) -> &Vocabulary {
        self.sequences.vocabulary()
    }

    /// Number of sequences.
    pub fn len(&self) -> usize {
        self.sequences.len()
    }

    /// The number of sequences to train on: the first `limit`, or all.
    ///
    /// # Errors
    /// There are fewer.
    pub fn count(&self, limit: Option<u64>) -> Result<usize, Failure> {
        let found = self.len();
        match limit {
            None => Ok(found),
            Some(wanted) if wanted <= found as u64 => Ok(wanted as usize),
            Some(wanted) => {
                let message = format!("input `{}` holds {found} sequences, not the {wanted} of `rows`", self.name);
                Err(Failure::input(message).hint("ask for fewer, or leave `rows` out to train on all"))
            }
        }
    }

    fn get(&self, place: usize) -> Result<Sequence<'_>, Failure> {
        let sequence = self.sequences.get(place)?;
        let sequence = sequence.ok_or_else(|| Failure::internal(format!("input `{}` has no {place}", self.name)))?;
        self.check(sequence).map_err(|failure| {
            let message = format!("input `{}`: sequence {place} ({}) {}", self.name, sequence.id, failure.message);
            Failure { message, ..failure }
        })?;
        Ok(sequence)
    }

    /// Checks that there is something to learn, and that the model can.
    fn check(&self, Sequence { tokens, targets, .. }: Sequence<'_>) -> Result<(), Failure> {
        let Some(first) = targets.iter().position(|target| *target != NO_LOSS) else {
            return Err(Failure::input("has no target"));
        };
        if let Some(longest) = self.longest.filter(|longest| tokens.len() > *longest) {
            let message = format!("has {} tokens, more than the {longest} positions of the model", tokens.len());
            return Err(Failure::input(message).hint("give the family's option `positions` a larger number"));
        }
        if first + 1 < targets.len() && !self.is_causal {
            let (message, hint) = NEEDS_MASK;
            return Err(Failure::input(message).hint(hint));
        }
        Ok(())
    }
}

/// Checks that both inputs have one vocabulary.
///
/// # Errors
/// They do not.
pub fn check_alike(train: &Rows, validation: &Rows) -> Result<(), Failure> {
    if train.vocabulary() == validation.vocabulary() {
        return Ok(());
    }
    let written = |rows: &Rows| serde_json::to_string(rows.vocabulary()).unwrap_or_default();
    let (one, other) = (written(train), written(validation));
    Err(Failure::input(format!("input `validation` has the vocabulary {other}, and `train` has {one}"))
        .hint("encode both with the same `form`"))
}

impl Examples for Rows {
    type MicroBatch = MicroBatch;

    fn length(&mut self, place: usize) -> Result<usize, Failure> {
        self.lengths += 1;
        if self.lengths.is_multiple_of(LENGTHS) {
            self.pages.release(|| self.sequences.release_pages());
        }
        Ok(self.get(place)?.tokens.len())
    }

    fn micro_batches(&mut self, places: &[usize]) -> Result<Vec<MicroBatch>, Failure> {
        self.pages.release(|| self.sequences.release_pages());
        let sequences: Vec<(&[u16], &[u16])> = places
            .iter()
            .map(|&place| self.get(place).map(|sequence| (sequence.tokens, sequence.targets)))
            .collect::<Result<_, _>>()?;
        let lengths: Vec<usize> = sequences.iter().map(|(tokens, _)| tokens.len()).collect();
        // Any token will do: what is padded changes nothing.
        let padding = u32::from(self.vocabulary().inputs) - 1;
        let cuts = cut_by_length(&lengths, self.micro_batch_tokens);
        Ok(cuts.iter().map(|chosen| MicroBatch::new(&sequences, chosen, padding)).collect())
    }
}
