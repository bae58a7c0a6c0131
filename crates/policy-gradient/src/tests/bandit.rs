//! A policy over four words, one of which is rewarded.

use burn::tensor::activation::log_softmax;
use burn::tensor::{DType, Int, Tensor, TensorData};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::{Batch, SURROGATE, tensor, values};
use crate::{Objective, Surrogate};

const STEPS: usize = 200;
const GROUPS: usize = 4;
const ROLLOUTS: usize = 8;
const RATE: f64 = 0.3;
const REWARDED: usize = 2;

/// The probabilities of the words after [`STEPS`] steps of two updates by plain gradient descent.
fn learn(objective: Objective, kl: f64) -> Vec<f64> {
    let surrogate = Surrogate { kl, ..SURROGATE };
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut logits = vec![0.0; 4];
    let probabilities = |logits: &[f64]| values(&log_softmax(tensor(logits, DType::F32), 0).exp());
    for _ in 0..STEPS {
        let current = probabilities(&logits);
        let mut draw = || {
            let mut left = random.next_u64() as f64 / u64::MAX as f64;
            current
                .iter()
                .position(|p| {
                    left -= p;
                    left < 0.0
                })
                .unwrap_or(3)
        };
        let words: Vec<usize> = (0..GROUPS * ROLLOUTS).map(|_| draw()).collect();
        let rewards = |words: &[usize]| words.iter().map(|&word| f64::from(u8::from(word == REWARDED))).collect();
        let batch = Batch {
            rewards: words.chunks(ROLLOUTS).map(rewards).collect(),
            lengths: vec![1; words.len()],
            longest: 1,
            old: words.iter().map(|&word| current[word].ln()).collect(),
            reference: Some(vec![0.25f64.ln(); words.len()]),
        };
        let terms = batch.terms(objective, DType::F32);
        for _ in 0..2 {
            let leaf = tensor(&logits, DType::F32).autodiff().require_grad();
            let places: Vec<i32> = words.iter().map(|&word| word as i32).collect();
            let places = Tensor::<1, Int>::from_data(TensorData::new(places, [words.len()]), &leaf.device());
            let new = log_softmax(leaf.clone(), 0).select(0, places);
            let gradient = leaf.grad(&surrogate.losses(new, &terms).sum().backward()).unwrap();
            logits.iter_mut().zip(values(&gradient)).for_each(|(logit, slope)| *logit -= RATE * slope);
        }
    }
    probabilities(&logits)
}

#[test]
fn the_rewarded_word_becomes_likely_with_each_objective() {
    for objective in Objective::ALL {
        let found = learn(objective, 0.0);
        assert!(found[REWARDED] > 0.95, "{objective:?}: {found:?}");
    }
}

#[test]
fn with_a_large_divergence_penalty_the_policy_stays() {
    for objective in Objective::ALL {
        let found = learn(objective, 10.0);
        assert!(found.iter().all(|p| (p - 0.25).abs() < 0.1), "{objective:?}: {found:?}");
    }
}
