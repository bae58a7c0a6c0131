//! Rows whose directions are known.

use burn::tensor::{Tensor, TensorData};
use cwm_inside::autoencoder::{Autoencoder, ReconstructionSums, TrainedAutoencoder};
use cwm_models::parameters::InitRng;
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{Precision, device};
use cwm_training::optimiser::AdamWOptions;
use cwm_training::schedule::{Schedule, Shape};

use crate::trainer::{SiteState, Trainer};

const WIDTH: usize = 16;
const ADAM: AdamWOptions = AdamWOptions { beta1: 0.0, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.0 };

/// Trains on batches of `rows` for so many updates.
fn train(latents: usize, rows: &[f32], (batch, updates): (usize, u64), sparsity: f64, lr: f64) -> TrainedAutoencoder {
    let autoencoder = Autoencoder::new(WIDTH, latents).unwrap();
    let weights = autoencoder.initial_weights(1, &[0.0; WIDTH]);
    let mut states = [SiteState::new(1.0, weights, ADAM, latents)];
    let (cpu, workers) = (device::cpu(), WorkerPool::new(2).unwrap());
    let mut trainer = Trainer::new(&autoencoder, 1, (&cpu, &workers), Precision::Fp32);
    let schedule = Schedule { shape: Shape::Cosine, rate: lr, warmup: 50, horizon: updates, floor: 0.0 };
    let mut batches = rows.chunks_exact(batch * WIDTH).cycle();
    for update in 0..updates {
        let weight = sparsity * ((update + 1) as f64 / 200.0).min(1.0);
        trainer.step(&mut states, &[batches.next().unwrap().to_vec()], weight, schedule.at(update));
    }
    let [SiteState { weights, .. }] = states;
    TrainedAutoencoder { autoencoder, weights, scale: 1.0 }
}

fn normal(count: usize, seed: u64) -> Vec<f32> {
    let mut draws = InitRng::seeded(seed);
    (0..count).map(|_| draws.normal() as f32).collect()
}

#[test]
fn without_sparsity_rows_are_kept() {
    let rows = normal(2000 * WIDTH, 3);
    let trained = train(256, &rows, (64, 2000), 0.0, 3e-2);
    let on_device = trained.on(&device::cpu(), Precision::Fp32);
    let x = Tensor::<2>::from_data(TensorData::new(rows.clone(), [2000, WIDTH]), &device::cpu());
    let latents = on_device.latents(x);
    let reconstructed: Vec<f32> = on_device.rows(latents.clone()).into_data().try_to_vec().unwrap();
    let mut sums = ReconstructionSums::new(WIDTH, 256);
    sums.add(&rows, &reconstructed, &latents.into_data().try_to_vec::<f32>().unwrap());
    let measures = sums.measures();
    assert!(measures.explained_variance > 0.99, "{measures:?}");
}

/// 64 directions in 16 channels, three at a time.
#[test]
fn a_planted_dictionary_is_found() {
    const DIRECTIONS: usize = 64;
    let mut directions: Vec<Vec<f64>> = Vec::new();
    for row in normal(50 * DIRECTIONS * WIDTH, 5).chunks_exact(WIDTH) {
        let length = row.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
        let direction: Vec<f64> = row.iter().map(|value| f64::from(*value) / length).collect();
        let cosine = |other: &Vec<f64>| other.iter().zip(&direction).map(|(a, b)| a * b).sum::<f64>();
        // Two that are nearly the same could not be distinguished from their sum.
        if directions.len() < DIRECTIONS && directions.iter().all(|other| cosine(other).abs() < 0.6) {
            directions.push(direction);
        }
    }
    assert_eq!(directions.len(), DIRECTIONS);
    let mut draws = InitRng::seeded(6);
    let mut rows = Vec::new();
    for _ in 0..64_000 {
        let mut row = [0.0; WIDTH];
        let mut chosen = Vec::new();
        while chosen.len() < 3 {
            let direction = draws.uniform(0.0, DIRECTIONS as f64) as usize;
            if !chosen.contains(&direction) {
                chosen.push(direction);
                let size = draws.uniform(2.0, 3.0);
                row.iter_mut().zip(&directions[direction]).for_each(|(row, value)| *row += size * value);
            }
        }
        rows.extend(row.map(|value| value as f32));
    }
    let trained = train(96, &rows, (64, 4000), 5.0, 2e-2);
    let decoder = trained.weights.get(Autoencoder::DECODER);
    let cosine = |direction: &[f64], latent: usize| -> f64 {
        direction.iter().enumerate().map(|(channel, value)| value * f64::from(decoder[channel * 96 + latent])).sum()
    };
    let best = |direction: &Vec<f64>| (0..96).map(|latent| cosine(direction, latent)).fold(0.0, f64::max);
    let found = directions.iter().map(best).filter(|cosine| *cosine > 0.9).count();
    assert!(found * 10 >= DIRECTIONS * 9, "{found} of {DIRECTIONS} directions found");
}
