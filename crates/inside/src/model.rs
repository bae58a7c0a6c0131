//! A checkpoint whose inside is looked at.

use std::path::Path;

use cwm_contract::Failure;
use cwm_models::checkpoint::{self, DESCRIPTION_FILE, Description};
use cwm_models::device;
use cwm_models::parameters::Weights;
use cwm_models::{Device, DeviceWeights, ForwardPass, Network, Precision};
use serde_json::json;

use crate::model_task::sizes;
use crate::{ModelTask, WeightsSource};

/// A model on a device, ready for passes without gradients.
///
/// On the CPU each micro-batch is computed by one thread, so that results have the same bits on any number of cores.
#[derive(Debug)]
pub struct Model {
    task: ModelTask,
    weights_source: WeightsSource,
    description: Description,
    digest: String,
    network: Network,
    device_weights: DeviceWeights<'static>,
}

impl Model {
    /// Opens a checkpoint of `train`, or of `learn` on sequences of the form `words`, to compute on `device`.
    ///
    /// # Errors
    /// It cannot be read, is of a model that reads neither, or has weights that are not finite.
    pub fn open(checkpoint: &Path, weights_source: WeightsSource, device: &Device) -> Result<Self, Failure> {
        let path = checkpoint.join(DESCRIPTION_FILE);
        let (task, inputs, outputs) = sizes(&Description::read(&path)?).map_err(|wrong| unusable(&path, &wrong))?;
        let (description, network, weights) = checkpoint::read(checkpoint, outputs)?;
        let found = description.architecture.vocabulary;
        if found != inputs {
            return Err(unusable(&path, &format!("its network reads {found} tokens, and games have {inputs}")));
        }
        let weights = match weights_source {
            WeightsSource::Trained => weights,
            WeightsSource::Untrained { seed } => network.initial_weights(seed),
        };
        if !weights.is_finite() {
            return Err(unusable(&path, "its weights are not all finite"));
        }
        let digest = digest(&description, &weights);
        let device_weights = DeviceWeights::owned(&weights, device);
        Ok(Model { task, weights_source, description, digest, network, device_weights })
    }

    /// Makes the model's matrix products round operands to `precision`; by default they do not.
    ///
    /// # Errors
    /// Its device cannot compute in that precision.
    pub fn with_precision(mut self, precision: Precision) -> Result<Self, Failure> {
        device::check_precision(self.pass().device(), precision)?;
        self.device_weights = self.device_weights.with_precision(precision);
        Ok(self)
    }

    /// The task that it was trained on.
    pub fn task(&self) -> ModelTask {
        self.task
    }

    /// The weights that it computes with.
    pub fn weights_source(&self) -> WeightsSource {
        self.weights_source
    }

    /// The checkpoint's description: architecture and training.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Family and size, such as `gpt d64/l4`: its name in findings.
    pub fn name(&self) -> String {
        let architecture = &self.description.architecture;
        format!("{} {}", architecture.family, architecture.size)
    }

    /// BLAKE3 of its architecture and weights: what was made of one model fits no other.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The model in files of its linear probes and autoencoders: its training, its architecture and its digest, in one flat object.
    pub fn json(&self) -> serde_json::Map<String, serde_json::Value> {
        let mut model = self.description.training.clone();
        let architecture = &self.description.architecture;
        model.insert("family".to_owned(), json!(architecture.family));
        model.insert("size".to_owned(), json!(architecture.size.to_string()));
        model.insert("options".to_owned(), json!(architecture.options));
        model.insert("parameters".to_owned(), json!(self.description.parameters));
        model.insert("digest".to_owned(), json!(self.digest));
        model
    }

    /// Its network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Channels of its stream.
    pub fn width(&self) -> usize {
        self.description.architecture.size.width
    }

    /// Sites of its stream: 0 after the embedding, then one after each block.
    pub fn sites(&self) -> usize {
        self.description.architecture.size.layers + 1
    }

    /// The largest number of tokens that it reads; `None` if there is no limit.
    pub fn longest(&self) -> Option<usize> {
        self.network.longest()
    }

    /// A token that fills batches on the right.
    pub(crate) fn padding(&self) -> u32 {
        match self.task {
            ModelTask::Moves => u32::from(cwm_policy::inputs::words::PADDING),
            ModelTask::State => u32::from(cwm_encoding::PAD),
        }
    }

    /// A pass without gradients.
    pub fn pass(&self) -> ForwardPass<'_> {
        ForwardPass::evaluation(&self.device_weights)
    }

    /// Refuses a model of another family than `wanted`, where a stage's result rests on the code of that family alone.
    ///
    /// # Errors
    /// It is of another.
    pub fn check_family(&self, wanted: Option<&str>) -> Result<(), Failure> {
        let found = &self.description.architecture.family;
        match wanted {
            Some(wanted) if wanted != found => {
                Err(Failure::input(format!("the checkpoint is of family `{found}`, but `family` is `{wanted}`"))
                    .hint("leave `family` out, or give it the value that the model was trained with"))
            }
            _ => Ok(()),
        }
    }

    /// Sites in ascending order: those that are given, or all if none is.
    ///
    /// # Errors
    /// The model has not such a site, or one is given twice; `parameter` is what people gave them as.
    pub fn checked_sites(&self, given: &[u64], parameter: &str) -> Result<Vec<usize>, Failure> {
        if given.is_empty() {
            return Ok((0..self.sites()).collect());
        }
        let mut sites = Vec::new();
        for &site in given {
            match usize::try_from(site).ok().filter(|&site| site < self.sites()) {
                Some(site) => sites.push(site),
                None => {
                    let last = self.sites() - 1;
                    let message = format!("`{parameter}` has layer {site}, and {} has layers 0 to {last}", self.name());
                    return Err(Failure::input(message));
                }
            }
        }
        sites.sort_unstable();
        match sites.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Failure::input(format!("`{parameter}` has layer {} twice", pair[0]))),
            None => Ok(sites),
        }
    }
}

/// True if one of these layers is given twice: a fault that shows before there is a model.
pub fn has_duplicates(layers: &[u64]) -> bool {
    (1..layers.len()).any(|at| layers[..at].contains(&layers[at]))
}

fn digest(description: &Description, weights: &Weights) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(json!(description.architecture).to_string().as_bytes());
    for values in weights.values().chunks(1 << 14) {
        hasher.update(&values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>());
    }
    hasher.finalize().to_hex().to_string()
}

fn unusable(path: &Path, wrong: &str) -> Failure {
    Failure::input(format!("the inside of the checkpoint {} cannot be looked at: {wrong}", path.display()))
}
