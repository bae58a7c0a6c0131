//! A checkpoint that answers.

use std::path::Path;

use cwm_contract::Failure;
use cwm_models::checkpoint::{self, DESCRIPTION_FILE, Description};
use cwm_models::device;
use cwm_models::worker_pool::on_one_thread;
use cwm_models::{
    Cache, ContinuationPoint, Device, DeviceWeights, ForwardPass, IncrementalNetwork, Network, Precision, Tokens,
};
use cwm_sequences::Vocabulary;

use crate::Form;
use crate::read::{ReadCache, Rows};

const FLOATS: &str = "logits are f32 and contiguous";

/// A trained model that answers with moves.
///
/// On the CPU, a pass through the model uses one thread, so that its results are the same on any number of cores: several
/// threads may use one player at once.
#[derive(Debug)]
pub struct Player {
    form: Form,
    description: Description,
    network: Network,
    device_weights: DeviceWeights<'static>,
    read_cache: ReadCache,
}

impl Player {
    /// Opens a checkpoint of `learn` to compute on `device`.
    ///
    /// # Errors
    /// It cannot be read, is of a model that does not answer with moves, has no mask though its answers have several tokens, or
    /// has weights that are not finite.
    pub fn open(checkpoint: &Path, device: &Device) -> Result<Self, Failure> {
        let path = checkpoint.join(DESCRIPTION_FILE);
        let vocabulary = vocabulary(&path, &Description::read(&path)?)?;
        let form = Form::of(&vocabulary).map_err(|wrong| unusable(&path, wrong))?;
        let (description, network, weights) = checkpoint::read(checkpoint, usize::from(vocabulary.targets))?;
        let (found, expected) = (description.architecture.vocabulary, usize::from(vocabulary.inputs));
        if found != expected {
            return Err(unusable(
                &path,
                format!("its network reads {found} tokens, and its vocabulary has {expected}"),
            ));
        }
        if form.end().is_some() && !network.is_causal() {
            let wrong =
                "it has no mask, and would read on to the tokens of an answer: such a model answers in one token";
            return Err(unusable(&path, wrong.to_owned()));
        }
        if weights.values().iter().any(|weight| !weight.is_finite()) {
            return Err(unusable(&path, "its weights are not all finite".to_owned()));
        }
        let device_weights = DeviceWeights::owned(&weights, device);
        Ok(Player { form, description, network, device_weights, read_cache: ReadCache::default() })
    }

    /// Makes the player's matrix products round operands to `precision`; by default they do not.
    ///
    /// # Errors
    /// Its device cannot compute in that precision.
    pub fn with_precision(mut self, precision: Precision) -> Result<Self, Failure> {
        device::check_precision(ForwardPass::evaluation(&self.device_weights).device(), precision)?;
        self.device_weights = self.device_weights.with_precision(precision);
        // What was read in another precision.
        self.read_cache = ReadCache::default();
        Ok(self)
    }

    /// The form in which it reads and answers.
    pub fn form(&self) -> Form {
        self.form
    }

    /// The model and its training.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// True if a token of its input sees those before it alone.
    pub fn is_causal(&self) -> bool {
        self.network.is_causal()
    }

    /// The largest number of tokens that it reads.
    pub(crate) fn context(&self) -> usize {
        self.network.longest().map_or(usize::MAX, |longest| longest).min(self.form.context())
    }

    /// The logits after each of the last tokens of some sequences, as many of each as `last` has for it.
    pub(crate) fn logits(&self, sequences: &[Vec<u16>], last: &[usize]) -> Vec<Rows> {
        let tokens = self.tokens(sequences);
        let rows = last_rows(&tokens, last);
        let logits = on_one_thread(|| {
            let pass = ForwardPass::evaluation(&self.device_weights);
            self.network.logits_at(&pass, &tokens, &rows).into_data()
        });
        split(logits.as_slice().expect(FLOATS), last)
    }

    /// Returns [`Player::logits`] of an incremental model, and the cache that later sequences continue. The sequences
    /// may themselves continue those of a cache: each behind so many tokens of one of them, by its place.
    pub(crate) fn logits_on(
        &self,
        model: IncrementalNetwork<'_>,
        earlier: Option<(&Cache, &[(usize, usize)])>,
        sequences: &[Vec<u16>],
        last: &[usize],
    ) -> (Vec<Rows>, Cache) {
        let tokens = self.tokens(sequences);
        let rows = last_rows(&tokens, last);
        on_one_thread(|| {
            let pass = ForwardPass::evaluation(&self.device_weights);
            let (x, cache) = match earlier {
                None => model.start(&pass, &tokens),
                Some((cache, after)) => {
                    let after = after.iter().map(|&(sequence, steps)| ContinuationPoint { sequence, steps });
                    model.continue_from(&pass, cache, &after.collect::<Vec<_>>(), &tokens)
                }
            };
            if rows.is_empty() {
                return (vec![Rows::new(); last.len()], cache);
            }
            let logits = self.network.logits_of_rows(&pass, x, &rows).into_data();
            (split(logits.as_slice().expect(FLOATS), last), cache)
        })
    }

    fn tokens(&self, sequences: &[Vec<u16>]) -> Tokens {
        let padding = self.network.architecture().vocabulary as u32 - 1;
        Tokens::padded(sequences.iter().map(Vec::as_slice), padding)
    }

    /// The model as one that continues cached tokens; `None` if it makes whole passes only.
    pub(crate) fn incremental(&self) -> Option<IncrementalNetwork<'_>> {
        self.network.incremental()
    }

    /// The cache of the games that it read last.
    pub(crate) fn read_cache(&self) -> &ReadCache {
        &self.read_cache
    }
}

/// The rows of the last steps of each sequence, as many as `last` has for it.
fn last_rows(tokens: &Tokens, last: &[usize]) -> Vec<usize> {
    let of_sequence = |(sequence, (&length, &last)): (usize, (&usize, &usize))| {
        let first = sequence * tokens.time();
        first + length - last..first + length
    };
    tokens.lengths().iter().zip(last).enumerate().flat_map(of_sequence).collect()
}

/// Rows of logits, sequence by sequence.
fn split(logits: &[f32], last: &[usize]) -> Vec<Rows> {
    let rows = last.iter().sum::<usize>().max(1);
    let mut each = logits.chunks_exact(logits.len() / rows).map(<[f32]>::to_vec);
    last.iter().map(|&last| each.by_ref().take(last).collect()).collect()
}

/// The vocabulary in the description of a training on sequences.
fn vocabulary(path: &Path, description: &Description) -> Result<Vocabulary, Failure> {
    let Some(vocabulary) = description.training.get("vocabulary") else {
        let wrong = "it is of a model that was not trained on sequences, and so chooses no move".to_owned();
        return Err(unusable(path, wrong).hint("the stage `learn` trains models that choose moves; `train` does not"));
    };
    serde_json::from_value(vocabulary.clone()).map_err(|error| unusable(path, format!("its `vocabulary`: {error}")))
}

fn unusable(path: &Path, wrong: String) -> Failure {
    Failure::input(format!("the checkpoint of {} cannot choose moves: {wrong}", path.display()))
}
