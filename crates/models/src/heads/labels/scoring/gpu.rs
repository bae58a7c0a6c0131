//! Scores on a GPU: a cube for each row and a thread for each label; six numbers a position leave the GPU.
//!
//! GPUs other than those of NVIDIA have no f64. The loss of a label is computed from the sum over all classes but the
//! likeliest: near zero it then has as many digits as anywhere. Losses are not negative, so that their sum keeps those.

use burn::tensor::Tensor;
use cubecl::prelude::*;

use super::super::cross_entropy::gpu::{classes_of, first_logit_of, load, packed, target};
use super::super::{LABELS, LOGITS, PositionScore, Targets};
use crate::gpu::{Array, cubes, math};

/// Threads of a cube.
const UNITS: usize = LABELS.next_multiple_of(32);

/// Right labels come back in numbers of so many bits, which a float has exactly.
const BITS: usize = 19;
const NUMBERS: usize = LABELS.div_ceil(BITS);

/// The sum of the losses, the number of labels whose loss is NaN, and the right labels.
const COLUMNS: usize = 2 + NUMBERS;

/// Returns [`PositionScore::new`] for each row of `logits` [rows, 1878], but for the digits of losses. Rows that are not
/// valid have scores of zero.
pub fn scores(logits: &Tensor<2>, targets: &Targets) -> Vec<PositionScore> {
    let logits = Array::from(logits.clone().flatten::<1>(0, 1));
    let (gpu, rows) = (logits.gpu(), targets.valid.len());
    let (found, targets) = (gpu.empty(rows * COLUMNS), packed(&gpu, &targets.labels, &targets.valid));
    let cube = CubeDim::new_1d(UNITS as u32);
    kernel::launch(gpu.client(), cubes(rows), cube, logits.arg(), targets.arg(), found.arg(), rows as u32);
    let found = gpu.read(&[&found]).remove(0);
    let score = |row: &[f32]| PositionScore {
        right: row[2..].iter().rev().fold(0, |bits, &right| bits << BITS | right as u128),
        loss_sum: if row[1] > 0.0 { f64::NAN } else { f64::from(row[0]) },
    };
    found.chunks_exact(COLUMNS).map(score).collect()
}

#[cube(launch)]
fn kernel(logits: &[f32], targets: &[u32], found: &mut [f32], rows: u32) {
    let row = CUBE_POS;
    if row < rows as usize {
        let mut x = Shared::<[f32]>::new_slice(LOGITS);
        let mut right = Shared::<[u32]>::new_slice(LABELS);
        let mut undefined = Shared::<[u32]>::new_slice(LABELS);
        let mut losses = Shared::<[f32]>::new_slice(LABELS);
        let is_valid = target(targets, row, LABELS) == 1u32;
        let unit = UNIT_POS as usize;
        if is_valid {
            load(logits, row, &mut x, UNITS);
            if unit < LABELS {
                let first = first_logit_of(unit);
                let end = first + classes_of(unit);
                let label = first + target(targets, row, unit) as usize;
                let mut best = first;
                let mut has_nan = false;
                for i in first..end {
                    if x[i] > x[best] {
                        best = i;
                    }
                    has_nan = has_nan || f32::is_nan(x[i]);
                }
                let largest = x[best];
                right[unit] = u32::cast_from(best == label && !has_nan);
                // Infinity less infinity is no number, either.
                undefined[unit] = u32::cast_from(has_nan || f32::is_inf(largest));
                losses[unit] = largest - x[label] + log_of_sum(&x, first, end, best);
            }
            sync_cube();
        }
        if unit < COLUMNS {
            let mut value = 0.0f32;
            if is_valid {
                if unit == 0 {
                    for label in 0..LABELS {
                        value += losses[label];
                    }
                } else if unit == 1 {
                    for label in 0..LABELS {
                        value += f32::cast_from(undefined[label]);
                    }
                } else {
                    let from = (unit - 2) * BITS;
                    let mut bits = 0u32;
                    for i in 0..BITS {
                        if from + i < LABELS {
                            bits += right[from + i] << i as u32;
                        }
                    }
                    value = f32::cast_from(bits);
                }
            }
            found[row * COLUMNS + unit] = value;
        }
    }
}

/// ln Σ e^(x_i - x_best) over a label's classes, with `best` the largest: added in parts, for fewer roundings.
#[cube]
fn log_of_sum(x: &Shared<[f32]>, first: usize, end: usize, best: usize) -> f32 {
    let mut others = 0.0f32;
    let mut from = first;
    while from < end {
        let mut part = 0.0f32;
        for i in from..usize::min(from + 16, end) {
            if i != best {
                part += f32::exp(x[i] - x[best]);
            }
        }
        others += part;
        from += 16;
    }
    if others > 1.0f32 { f32::ln(1.0f32 + others) } else { math::log_one_plus(others) }
}
