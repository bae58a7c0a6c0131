//! The golden objectives, made by an independent program (CPython, f64).

use std::path::PathBuf;

use burn::tensor::DType;
use serde::Deserialize;

use super::{Batch, tensor, values};
use crate::{Objective, Surrogate};

#[derive(Deserialize)]
struct Expected {
    advantages: Vec<Vec<f64>>,
    loss: f64,
}

#[derive(Deserialize)]
struct Row {
    rewards: Vec<Vec<f64>>,
    lengths: Vec<usize>,
    longest: usize,
    new: Vec<Vec<f64>>,
    old: Vec<Vec<f64>>,
    clip_low: f64,
    clip_high: f64,
    dr_grpo: Expected,
    grpo: Expected,
    dapo: Expected,
}

/// The golden rows; none, with a note, if they are not there.
fn rows() -> Option<Vec<Row>> {
    let beside = || PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../../shared");
    let shared = std::env::var_os("CWM_SHARED").map_or_else(beside, PathBuf::from);
    let path = shared.join("systems/reasoning-golden/objectives.jsonl");
    if !path.exists() {
        println!("skipped: {} is not there (CWM_SHARED names the folder that holds systems/)", path.display());
        return None;
    }
    let text = std::fs::read_to_string(path).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn advantages_and_losses_are_the_golden_ones() {
    let Some(rows) = rows() else { return };
    assert!(!rows.is_empty());
    for (number, row) in rows.into_iter().enumerate() {
        let tokens = |of: &[Vec<f64>]| -> Vec<f64> {
            of.iter().zip(&row.lengths).flat_map(|(row, &length)| row[..length].to_vec()).collect()
        };
        let new = tokens(&row.new);
        let batch = Batch {
            rewards: row.rewards.clone(),
            lengths: row.lengths.clone(),
            longest: row.longest,
            old: tokens(&row.old),
            reference: None,
        };
        let surrogate = Surrogate { clip_low: row.clip_low, clip_high: row.clip_high, kl: 0.0 };
        for (objective, expected) in Objective::ALL.into_iter().zip([&row.dr_grpo, &row.grpo, &row.dapo]) {
            let case = format!("row {number}, {objective:?}");
            for (rewards, expected) in row.rewards.iter().zip(&expected.advantages) {
                let found = objective.advantages(rewards);
                assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12), "{case}");
            }
            for (dtype, tolerance) in [(DType::F32, 1e-6), (DType::F64, 1e-12)] {
                let losses = surrogate.losses(tensor(&new, dtype), &batch.terms(objective, dtype));
                assert_eq!(losses.dtype(), dtype, "{case}");
                let loss: f64 = values(&losses).iter().sum();
                assert!(
                    (loss - expected.loss).abs() < tolerance,
                    "{case}: {loss} where {} was expected",
                    expected.loss
                );
            }
        }
    }
}

#[test]
fn names_and_objectives_are_one_to_one() {
    for (name, objective) in Objective::NAMES.iter().zip(Objective::ALL) {
        assert_eq!(Objective::of_name(name), Some(objective));
    }
    assert_eq!(Objective::of_name("ppo"), None);
}
