//! Gradients against finite differences in f64, and where they must vanish.

use burn::tensor::DType;
use proptest::prelude::*;

use super::{Batch, SURROGATE, tensor, values};
use crate::{Objective, Surrogate, has_signal};

/// The gradient of the loss by the policy's log-probabilities.
fn gradient(surrogate: &Surrogate, batch: &Batch, objective: Objective, new: &[f64]) -> Vec<f64> {
    let leaf = tensor(new, DType::F64).autodiff().require_grad();
    let terms = batch.terms(objective, DType::F64);
    let loss = surrogate.losses(leaf.clone(), &terms).sum();
    values(&leaf.grad(&loss.backward()).unwrap())
}

/// A batch of two groups of three answers, and log-probabilities of a policy near the one that sampled.
fn batches() -> impl Strategy<Value = (Batch, Vec<f64>)> {
    let lengths = prop::collection::vec(1usize..6, 6);
    (lengths, prop::collection::vec(-0.5f64..1.0, 6)).prop_flat_map(|(lengths, rewards)| {
        let tokens: usize = lengths.iter().sum();
        let log_probabilities = || prop::collection::vec(-4.0f64..-0.01, tokens);
        let moved = prop::collection::vec(-0.6f64..0.6, tokens);
        (log_probabilities(), log_probabilities(), moved).prop_map(move |(old, reference, moved)| {
            let new = old.iter().zip(moved).map(|(old, moved)| old + moved).collect();
            let rewards = rewards.chunks(3).map(<[f64]>::to_vec).collect();
            (Batch { rewards, lengths: lengths.clone(), longest: 8, old, reference: Some(reference) }, new)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn gradients_are_the_slopes_of_the_loss((batch, new) in batches(), kl in prop::sample::select(vec![0.0, 0.3])) {
        let surrogate = Surrogate { kl, ..SURROGATE };
        let step = 1e-6;
        for objective in Objective::ALL {
            let found = gradient(&surrogate, &batch, objective, &new);
            let terms = batch.terms(objective, DType::F64);
            for place in 0..new.len() {
                // At the edges of the clip there is no slope.
                let ratio = (new[place] - batch.old[place]).exp();
                prop_assume!((ratio - 0.8).abs() > 1e-4 && (ratio - 1.28).abs() > 1e-4);
                let at = |offset: f64| {
                    let mut moved = new.clone();
                    moved[place] += offset;
                    values(&surrogate.losses(tensor(&moved, DType::F64), &terms)).iter().sum::<f64>()
                };
                let slope = (at(step) - at(-step)) / (2.0 * step);
                prop_assert!((slope - found[place]).abs() < 1e-7, "{objective:?}: {} where {slope} is", found[place]);
            }
        }
    }

    #[test]
    fn a_group_of_equal_rewards_has_no_gradient_and_no_advantage((batch, new) in batches(), reward in -0.5f64..1.0) {
        let batch = Batch { rewards: vec![vec![reward; 3], batch.rewards[1].clone()], ..batch };
        prop_assert!(!has_signal(&batch.rewards[0]));
        let first: usize = batch.lengths[..3].iter().sum();
        for objective in Objective::ALL {
            prop_assert_eq!(objective.advantages(&batch.rewards[0]), [0.0; 3]);
            let found = gradient(&SURROGATE, &batch, objective, &new);
            prop_assert!(found[..first].iter().all(|slope| *slope == 0.0), "{:?}", found);
            let clipped_all = found[first..].iter().all(|slope| *slope == 0.0);
            let ratios = new.iter().zip(&batch.old).skip(first).map(|(new, old)| (new - old).exp());
            prop_assert!(!clipped_all || ratios.into_iter().any(|ratio| !(0.8..1.28).contains(&ratio)));
        }
    }

    #[test]
    fn advantages_of_a_group_add_up_to_nothing(rewards in prop::collection::vec(-0.5f64..1.0, 2..9)) {
        for objective in Objective::ALL {
            prop_assert!(objective.advantages(&rewards).iter().sum::<f64>().abs() < 1e-9);
        }
    }
}

#[test]
fn a_clipped_ratio_has_a_gradient_only_back_towards_one() {
    let old = [-1.0; 4];
    // Above and below the clip, for the better and the worse answer of a group.
    let new = [-1.0 + 0.5, -1.0 - 0.5, -1.0 + 0.5, -1.0 - 0.5];
    let batch =
        Batch { rewards: vec![vec![1.0, 0.0]], lengths: vec![2, 2], longest: 2, old: old.to_vec(), reference: None };
    let found = gradient(&SURROGATE, &batch, Objective::DrGrpo, &new);
    assert!(found[0] == 0.0 && found[1] < 0.0 && found[2] > 0.0 && found[3] == 0.0, "{found:?}");
}
