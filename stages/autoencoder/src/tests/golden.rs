//! Five updates as an independent program makes them.

use cwm_contract::testing::shared;
use cwm_inside::autoencoder::Autoencoder;
use cwm_models::parameters::Weights;
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{Precision, device};
use cwm_training::optimiser::AdamWOptions;
use safetensors::SafeTensors;

use crate::trainer::{SiteState, Trainer};

fn golden(name: &str) -> Option<Vec<u8>> {
    Some(std::fs::read(shared(&format!("systems/inside-models-golden/{name}"))?).unwrap())
}

#[test]
fn five_updates_equal_those_of_the_independent_program() {
    let (Some(bytes), Some(manifest)) = (golden("gated-sae.safetensors"), golden("manifest.json")) else { return };
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let floats = |name: &str| -> Vec<f32> {
        let data = file.tensor(name).unwrap();
        data.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    };
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let fixtures = manifest["fixtures"].as_array().unwrap();
    let trace = &fixtures.iter().find(|fixture| fixture["kind"] == "gated_sae").unwrap()["train_trace"];
    let autoencoder = Autoencoder::new(16, 64).unwrap();
    let mut weights = Weights::zeros(autoencoder.layout().clone());
    for (index, declared) in autoencoder.layout().parameters().iter().enumerate() {
        weights.get_mut(index).copy_from_slice(&floats(&format!("param.{}", declared.name)));
    }
    let options = AdamWOptions { beta1: 0.0, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.0 };
    let mut states = [SiteState::new(1.0, weights, options, 64)];
    let (cpu, workers) = (device::cpu(), WorkerPool::new(2).unwrap());
    let mut trainer = Trainer::new(&autoencoder, 1, (&cpu, &workers), Precision::Fp32);
    let x = floats("input.x");
    for (update, first) in [0, 32, 64, 0, 32].into_iter().enumerate() {
        let rows = x[first * 16..(first + 32) * 16].to_vec();
        let means = trainer.step(&mut states, &[rows], 0.1, 1e-3)[0];
        for (found, name) in [
            (means.loss, "losses"),
            (means.reconstruction, "reconstruction"),
            (means.sparsity, "sparsity"),
            (means.auxiliary, "auxiliary"),
        ] {
            let expected = trace[name][update].as_f64().unwrap();
            assert!((found - expected).abs() <= 1e-5 * expected, "{name} {update}: {found}, not {expected}");
        }
    }
    let norm = |values: &mut dyn Iterator<Item = f32>| values.map(|value| f64::from(value).powi(2)).sum::<f64>().sqrt();
    for (index, declared) in autoencoder.layout().parameters().iter().enumerate() {
        let (found, expected) = (states[0].weights.get(index), floats(&format!("after_5.{}", declared.name)));
        let difference = norm(&mut found.iter().zip(&expected).map(|(found, expected)| found - expected));
        let length = norm(&mut expected.iter().copied());
        assert!(difference <= 1e-5 * length, "{}: {difference} of {length}", declared.name);
    }
}
