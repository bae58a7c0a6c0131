//! The folder of linear probes.

use std::collections::BTreeMap;

use cwm_contract::Failure;
use cwm_inside::linear_probe::{FORMAT, LayerProbe, LinearProbe, LinearProbes, LinearProbesDescription};
use serde_json::json;

use crate::inputs::Form;
use crate::run::{CollectedRows, LinearProbeRun};
use crate::train::TrainedLinearProbe;

impl LinearProbeRun<'_> {
    /// Writes the linear probes that were made on the rows of `train`.
    ///
    /// # Errors
    /// An operation on the disk fails, or an autoencoder cannot be read again.
    pub fn write(&self, made: Vec<TrainedLinearProbe>, forms: &[Form], train: &CollectedRows) -> Result<(), Failure> {
        let mut layers = BTreeMap::new();
        for ((site, made), form) in self.collection.sites.iter().zip(made).zip(forms) {
            let of_layer = match (form, &self.autoencoder) {
                (Form::Latents { .. }, Some((description, folder))) => {
                    let trained = description.open(folder, *site)?;
                    let latent = made.probe;
                    let weight = latent.weight().chunks_exact(latent.width());
                    let decoded = weight.flat_map(|of_latents| trained.direction(of_latents)).collect();
                    let probe = LinearProbe::new(latent.classes(), self.model.width(), decoded);
                    LayerProbe { probe, latent: Some(latent), scale: 1.0 }
                }
                (Form::Stream(scale), _) => LayerProbe { probe: made.probe, latent: None, scale: *scale },
                (Form::Latents { .. }, None) => return Err(Failure::internal("latents without an autoencoder")),
            };
            layers.insert(*site, of_layer);
        }
        let config = self.config;
        let mut training = serde_json::Map::from_iter([
            ("games".to_owned(), json!(train.games)),
            ("dropped".to_owned(), json!(BTreeMap::from(train.dropped))),
            ("rows".to_owned(), json!(train.rows.len())),
            ("labels".to_owned(), json!(config.labels)),
            ("last".to_owned(), json!(config.last)),
            ("cut".to_owned(), json!(config.cut)),
            ("max_tokens".to_owned(), json!(config.max_tokens)),
            ("seed".to_owned(), json!(config.seed)),
        ]);
        if config.is_trained() {
            let of_training = [
                ("epochs", json!(config.epochs)),
                ("batch_size", json!(config.batch_size)),
                ("lr", json!(config.lr)),
                ("beta1", json!(config.beta1)),
                ("beta2", json!(config.beta2)),
                ("weight_decay", json!(config.weight_decay)),
                ("warmup_share", json!(config.warmup_share)),
            ];
            training.extend(of_training.map(|(name, value)| (name.to_owned(), value)));
        }
        let description = LinearProbesDescription {
            format: FORMAT,
            model: self.model.json(),
            network: self.model.weights_source().name().to_owned(),
            width: self.model.width(),
            layers: self.collection.sites.clone(),
            last: if config.normed { "normed" } else { "raw" }.to_owned(),
            of: self.input_kind().to_owned(),
            target: config.target.clone(),
            classes: config.target().classes().iter().map(|class| (*class).to_owned()).collect(),
            method: config.method.clone(),
            phase: config.phase.clone(),
            board: config.board.clone(),
            training,
        };
        LinearProbes { description, layers }.write(self.context.output("probes")?)
    }
}
