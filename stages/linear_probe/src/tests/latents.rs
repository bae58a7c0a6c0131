//! Boards read from an autoencoder's latents.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_chess::sample;
use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Failure, Value};
use cwm_inside::autoencoder::{Autoencoder, Description, SiteDescription, TrainedAutoencoder};
use cwm_inside::linear_probe::LinearProbes;
use cwm_inside::sample::write_checkpoint;
use cwm_inside::{Model, ModelTask, WeightsSource};
use cwm_models::device;

use crate::LinearProbe;

const LATENTS: usize = 48;

/// A fresh autoencoder of layer 1 of a fresh model.
fn write_autoencoder(folder: &Path, width: usize, digest: &str) -> TrainedAutoencoder {
    let autoencoder = Autoencoder::new(width, LATENTS).unwrap();
    let weights = autoencoder.initial_weights(3, &vec![0.0; width]);
    let trained = TrainedAutoencoder { autoencoder, weights, scale: 2.0 };
    let model = serde_json::Map::from_iter([("digest".to_owned(), digest.into())]);
    let sites = BTreeMap::from([(1, SiteDescription { dead: 0 })]);
    Description::new(model, (width, LATENTS), sites, serde_json::Map::new()).write(folder).unwrap();
    trained.write(folder, 1).unwrap();
    trained
}

fn run(folder: &Path, method: &str) -> Result<Outcome, Failure> {
    let trial = Trial::new(folder.join(method)).with("method", Value::Text(method.to_owned()));
    let trial = trial.with("epochs", Value::Int(1)).with("resamples", Value::Int(9)).with("max_tokens", Value::Int(40));
    let inputs = ["checkpoint", "train", "test", "autoencoder"];
    inputs.iter().fold(trial, |trial, name| trial.input(name, folder.join(name))).run(&LinearProbe)
}

#[test]
fn directions_of_latents_are_decoded() {
    let folder = tempfile::tempdir().unwrap();
    let [checkpoint, train, test] = ["checkpoint", "train", "test"].map(|name| folder.path().join(name));
    write_checkpoint(&checkpoint, ModelTask::Moves, "gpt", "d32/l2", 4).unwrap();
    sample::write_train_and_test(&train, &test).unwrap();
    let model = Model::open(&checkpoint, WeightsSource::Trained, &device::cpu()).unwrap();
    let trained = write_autoencoder(&folder.path().join("autoencoder"), 32, model.digest());
    for method in ["linear", "difference"] {
        let outcome = run(folder.path(), method).unwrap();
        let probes = LinearProbes::read(&outcome.outputs["probes"]).unwrap();
        assert_eq!((probes.description.of.as_str(), &probes.description.layers[..]), ("latents", &[1][..]));
        let layer = &probes.layers[&1];
        let latent = layer.latent.as_ref().unwrap();
        assert_eq!((layer.probe.width(), latent.width(), layer.scale), (32, LATENTS, 1.0));
        assert!(latent.weight().iter().any(|weight| *weight != 0.0));
        for (square, class) in [(0, 0), (12, 7), (63, 4)] {
            let decoded = trained.direction(latent.direction(square, class));
            assert_eq!(layer.probe.direction(square, class), decoded);
        }
        let found = cwm_findings::read(&outcome.outputs["findings"]).unwrap();
        assert!(found.iter().all(|finding| finding.named("of") == "latents"));
    }
}

#[test]
fn autoencoders_of_other_models_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [checkpoint, train, test] = ["checkpoint", "train", "test"].map(|name| folder.path().join(name));
    write_checkpoint(&checkpoint, ModelTask::Moves, "gpt", "d32/l2", 4).unwrap();
    sample::write_train_and_test(&train, &test).unwrap();
    let message = |width, digest: &str| {
        write_autoencoder(&folder.path().join("autoencoder"), width, digest);
        run(folder.path(), "linear").err().unwrap().message
    };
    assert_eq!(message(16, ""), "the autoencoder is of rows of 16 channels, and gpt d32/l2 has 32");
    assert_eq!(message(32, "other"), "the autoencoder is of another model than the checkpoint, which is gpt d32/l2");
}
