use burn::tensor::{Tensor, TensorData};
use cwm_models::parameters::{InitRng, Weights};
use cwm_models::{DeviceWeights, ForwardPass, Precision, device};

use super::*;
use crate::golden::{Golden, assert_close};

const WIDTH: usize = 16;
const LATENTS: usize = 64;

fn autoencoder() -> Autoencoder {
    Autoencoder::new(WIDTH, LATENTS).unwrap()
}

fn golden_weights(golden: &Golden) -> Weights {
    let autoencoder = autoencoder();
    let mut weights = Weights::zeros(autoencoder.layout().clone());
    for (index, declared) in autoencoder.layout().parameters().iter().enumerate() {
        weights.get_mut(index).copy_from_slice(&golden.floats(&format!("param.{}", declared.name)));
    }
    weights
}

fn random_rows(rows: usize, seed: u64) -> Vec<f32> {
    let mut draws = InitRng::seeded(seed);
    (0..rows * WIDTH).map(|_| draws.normal() as f32).collect()
}

fn tensor(values: &[f32], width: usize, device: &burn::tensor::Device) -> Tensor<2> {
    Tensor::from_data(TensorData::new(values.to_vec(), [values.len() / width, width]), device)
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_to_vec().unwrap()
}

#[track_caller]
fn assert_all_close(found: &[f32], expected: &[f32], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    found
        .iter()
        .zip(expected)
        .for_each(|(found, expected)| assert_close(f64::from(*found), f64::from(*expected), tolerance));
}

#[test]
fn outputs_and_measures_equal_the_independent_program() {
    let Some(golden) = Golden::open("gated-sae.safetensors") else { return };
    let (autoencoder, weights, x) = (autoencoder(), golden_weights(&golden), golden.floats("input.x"));
    let device_weights = DeviceWeights::new(&weights, &device::cpu());
    let pass = ForwardPass::evaluation(&device_weights);
    let rows = tensor(&x, WIDTH, pass.device());
    let (pi, latents) = autoencoder.encode(&pass, rows);
    let reconstructed = values(autoencoder.decode(&pass, latents.clone()));
    let latents = values(latents);
    assert_all_close(&values(pi), &golden.floats("output.pi_gate"), 2e-5);
    assert_all_close(&latents, &golden.floats("output.f"), 2e-5);
    assert_all_close(&reconstructed, &golden.floats("output.x_hat"), 2e-5);
    let [mut sums, mut rest] = [(); 2].map(|()| ReconstructionSums::new(WIDTH, LATENTS));
    // In two parts, as games come.
    let cut = |values: &'_ [f32], width: usize| values.len() / width / 3 * width;
    let (at, at_latents) = (cut(&x, WIDTH), cut(&latents, LATENTS));
    sums.add(&x[..at], &reconstructed[..at], &latents[..at_latents]);
    rest.add(&x[at..], &reconstructed[at..], &latents[at_latents..]);
    sums.merge(&rest);
    let found = sums.measures();
    let expected = |name: &str| golden.manifest["metrics"][name].as_f64().unwrap();
    for (found, name) in [
        (found.l0, "l0"),
        (found.l1, "l1"),
        (found.mse, "mse"),
        (found.cosine, "cosine"),
        (found.explained_variance, "explained_variance"),
        (found.norm_ratio, "norm_ratio"),
        (found.inactive_latents as f64, "dead"),
    ] {
        assert_close(found, expected(name), 2e-5);
    }
    assert_eq!(found.rows, 96);
}

#[test]
fn loss_and_gradients_equal_the_independent_program() {
    let Some(golden) = Golden::open("gated-sae.safetensors") else { return };
    let (autoencoder, weights, x) = (autoencoder(), golden_weights(&golden), golden.floats("input.x"));
    let device_weights = DeviceWeights::new(&weights, &device::cpu());
    let pass = ForwardPass::training(&device_weights, None);
    let loss = autoencoder.loss(&pass, tensor(&x, WIDTH, pass.device()), 0.1, 96);
    for (found, name, rows) in [
        (&loss.share, "loss", 1.0),
        (&loss.reconstruction, "reconstruction", 96.0),
        (&loss.sparsity, "sparsity", 96.0),
        (&loss.auxiliary, "auxiliary", 96.0),
    ] {
        let expected = f64::from(golden.floats(&format!("output.{name}"))[0]);
        assert_close(f64::from(values(found.clone())[0]) / rows, expected, 1e-5);
    }
    let active = golden.floats("output.f").chunks(LATENTS).fold(vec![0.0; LATENTS], |mut sums: Vec<f32>, row| {
        sums.iter_mut().zip(row).for_each(|(sum, latent)| *sum += f32::from(*latent > 0.0));
        sums
    });
    assert_eq!(values(loss.active.clone()), active);
    let gradients = pass.device_gradients(&loss.share).dense;
    let mut decoder = Vec::new();
    for (declared, gradient) in autoencoder.layout().parameters().iter().zip(gradients) {
        let (found, expected) = (values(gradient.unwrap()), golden.floats(&format!("grad.{}", declared.name)));
        assert_near(&found, &expected, 1e-4);
        decoder = if declared.name == "W_dec" { found } else { decoder };
    }
    project_gradient(&mut decoder, weights.get(4), LATENTS);
    assert_near(&decoder, &golden.floats("grad_projected.W_dec"), 1e-4);
}

/// The difference is at most this share of the expected norm.
#[track_caller]
fn assert_near(found: &[f32], expected: &[f32], share: f64) {
    let norm = |values: &mut dyn Iterator<Item = f32>| values.map(|value| f64::from(value).powi(2)).sum::<f64>().sqrt();
    let difference = norm(&mut found.iter().zip(expected).map(|(found, expected)| found - expected));
    let length = norm(&mut expected.iter().copied());
    assert!(found.len() == expected.len() && difference <= share * length, "{difference} of {length}");
}

#[test]
fn it_begins_with_unit_columns_their_transpose_as_gate_and_the_given_bias() {
    let autoencoder = autoencoder();
    let bias: Vec<f32> = (0..WIDTH).map(|channel| channel as f32).collect();
    let weights = autoencoder.initial_weights(3, &bias);
    let (gate, decoder) = (weights.get(0), weights.get(4));
    for latent in 0..LATENTS {
        let column: Vec<f32> = (0..WIDTH).map(|channel| decoder[channel * LATENTS + latent]).collect();
        let square: f64 = column.iter().map(|value| f64::from(*value).powi(2)).sum();
        assert!((square - 1.0).abs() < 1e-6);
        assert_eq!(column, gate[latent * WIDTH..(latent + 1) * WIDTH]);
    }
    assert!([1, 2, 3].iter().all(|&index| weights.get(index).iter().all(|value| *value == 0.0)));
    assert_eq!(weights.get(5), bias);
    assert_eq!(weights.values(), autoencoder.initial_weights(3, &bias).values());
    // 2dF + 3F + d.
    assert_eq!(Autoencoder::new(64, 1024).unwrap().layout().total(), 134_208);
    assert_eq!(Autoencoder::new(768, 12_288).unwrap().layout().total(), 18_912_000);
}

#[test]
fn a_projected_gradient_has_nothing_along_a_column_and_a_column_of_zeros_stays() {
    let mut matrix = random_rows(4, 1);
    matrix.chunks_exact_mut(WIDTH).for_each(|row| row[5] = 0.0);
    set_unit_columns(&mut matrix, WIDTH);
    let mut gradient = random_rows(4, 2);
    project_gradient(&mut gradient, &matrix, WIDTH);
    for column in 0..WIDTH {
        let along: f32 = (0..4).map(|row| matrix[row * WIDTH + column] * gradient[row * WIDTH + column]).sum();
        assert!(along.abs() < 1e-6);
    }
    assert!(matrix.chunks_exact(WIDTH).all(|row| row[5] == 0.0));
}

fn trained() -> TrainedAutoencoder {
    let autoencoder = autoencoder();
    let weights = autoencoder.initial_weights(3, &[0.25; WIDTH]);
    TrainedAutoencoder { autoencoder, weights, scale: 2.0 }
}

#[test]
fn what_was_written_is_read_and_faults_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("autoencoder");
    let sites = [(2, SiteDescription { dead: 3 })].into();
    let description = Description::new(serde_json::Map::new(), (WIDTH, LATENTS), sites, serde_json::Map::new());
    description.write(&path).unwrap();
    trained().write(&path, 2).unwrap();
    let read = Description::read(&path).unwrap();
    assert_eq!(read, description);
    let found = read.open(&path, 2).unwrap();
    assert_eq!((found.weights.values(), found.scale), (trained().weights.values(), 2.0));
    let failure = read.open(&path, 1).unwrap_err();
    assert!(failure.message.contains("no autoencoder of layer 1") && failure.hint.unwrap().contains("layers 2"));
    let other = Description { latents: 32, ..read.clone() };
    assert!(other.open(&path, 2).unwrap_err().message.contains("`W_gate` is F32 [64, 16]"));
    TrainedAutoencoder { scale: 0.0, ..trained() }.write(&path, 2).unwrap();
    assert!(read.open(&path, 2).unwrap_err().message.contains("`scale` is 0"));
    let mut nan = trained();
    nan.weights.values_mut()[0] = f32::NAN;
    nan.write(&path, 2).unwrap();
    assert!(read.open(&path, 2).unwrap_err().message.contains("has numbers that are not finite"));
    std::fs::write(path.join("autoencoder.json"), r#"{"format":2}"#).unwrap();
    assert!(Description::read(&path).unwrap_err().message.contains("`format` is 2"));
}

#[test]
fn a_direction_is_what_weights_of_latents_change_in_the_stream() {
    let trained = trained();
    let on_device = trained.on(&device::cpu(), Precision::Fp32);
    let latents: Vec<f32> = (0..LATENTS).map(|latent| (latent % 5) as f32).collect();
    let rows = |latents: Vec<f32>| values(on_device.rows(tensor(&latents, LATENTS, &device::cpu())));
    let difference: Vec<f32> =
        rows(latents.clone()).iter().zip(rows(vec![0.0; LATENTS])).map(|(with, without)| with - without).collect();
    assert_all_close(&trained.direction(&latents), &difference, 1e-5);
}

#[test]
fn the_scale_is_applied_and_undone() {
    let trained = trained();
    let x = random_rows(7, 5);
    let doubled: Vec<f32> = x.iter().map(|value| 2.0 * value).collect();
    let plain = TrainedAutoencoder { scale: 1.0, ..trained.clone() };
    let latents = |trained: &TrainedAutoencoder, x: &[f32]| {
        values(trained.on(&device::cpu(), Precision::Fp32).latents(tensor(x, WIDTH, &device::cpu())))
    };
    let found = latents(&trained, &x);
    assert_eq!(found, latents(&plain, &doubled));
    assert!(found.iter().all(|latent| *latent >= 0.0) && found.iter().any(|latent| *latent > 0.0));
    let rows = |trained: &TrainedAutoencoder| {
        values(trained.on(&device::cpu(), Precision::Fp32).rows(tensor(&found, LATENTS, &device::cpu())))
    };
    let halves: Vec<f32> = rows(&plain).iter().map(|value| value / 2.0).collect();
    assert_eq!(rows(&trained), halves);
}
