//! A checkpoint that answers.

use std::path::Path;

use cwm_contract::Failure;
use cwm_models::checkpoint::{self, DESCRIPTION_FILE, Description};
use cwm_models::device;
use cwm_models::worker_pool::on_one_thread;
use cwm_models::{Device, DeviceWeights, ForwardPass, Network, Precision, Tokens};
use cwm_sequences::Vocabulary;

use crate::Form;

/// A trained model that answers with moves.
///
/// On the processor, a pass through the model uses one thread, so that its results are the same on any number of cores: several
/// threads may use one player at once.
#[derive(Debug)]
pub struct Player {
    form: Form,
    description: Description,
    network: Network,
    device_weights: DeviceWeights<'static>,
}

impl Player {
    /// Opens a checkpoint of `learn` to compute on `device`.
    ///
    /// # Errors
    /// It cannot be read, is of a model that does not answer with moves, or has weights that are not finite.
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
        if weights.values().iter().any(|weight| !weight.is_finite()) {
            return Err(unusable(&path, "its weights are not all finite".to_owned()));
        }
        let device_weights = DeviceWeights::owned(&weights, device);
        Ok(Player { form, description, network, device_weights })
    }

    /// The same player, whose matrix products round operands to `precision`; by default they do not.
    ///
    /// # Errors
    /// Its device cannot compute in that precision.
    pub fn with_precision(mut self, precision: Precision) -> Result<Self, Failure> {
        device::check_precision(ForwardPass::evaluation(&self.device_weights).device(), precision)?;
        self.device_weights = self.device_weights.with_precision(precision);
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
    pub(crate) fn logits(&self, sequences: &[Vec<u16>], last: &[usize]) -> Vec<Vec<Vec<f32>>> {
        let padding = self.network.architecture().vocabulary as u32 - 1;
        let tokens = Tokens::padded(sequences.iter().map(Vec::as_slice), padding);
        let rows = tokens.lengths().iter().zip(last).enumerate().flat_map(|(sequence, (&length, &last))| {
            let first = sequence * tokens.time();
            first + length - last..first + length
        });
        let rows: Vec<usize> = rows.collect();
        let logits = on_one_thread(|| {
            let pass = ForwardPass::evaluation(&self.device_weights);
            self.network.logits_at(&pass, &tokens, &rows).into_data()
        });
        let logits = logits.as_slice::<f32>().expect("logits are f32 and contiguous");
        let mut each = logits.chunks_exact(logits.len() / rows.len().max(1)).map(<[f32]>::to_vec);
        last.iter().map(|&last| each.by_ref().take(last).collect()).collect()
    }
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
