//! The kernel of [`super::cross_entropy`] on a GPU: a cube for each row, forward and backward in one launch each.
//!
//! A cube reads its row of logits into shared memory. Each label with few classes has a thread, each of those with many a
//! quarter of the cube. The backward pass does not read gradients that the forward pass saved (as many values as there are
//! logits): it computes them again.

use cubecl::prelude::*;

use super::super::{GROUPS, LABELS, LOGITS};
use super::Targets;
use crate::gpu::{Array, Gpu, Operation, THREADS, cubes};

/// Labels with few classes, which come first.
const FEW: usize = labels_below(32);
/// First logit of the labels with many classes, and the classes of each.
const FIRST_OF_MANY: usize = GROUPS[5].first_logit;
const MANY: usize = GROUPS[5].classes;
/// Threads of a label with many classes.
const LANES: usize = THREADS as usize / (LABELS - FEW);
/// Words of a row of targets: a byte for each label, and one that says whether the row is valid.
const WORDS: usize = (LABELS + 1).div_ceil(4);
/// Scratch space for a number of each label, a power of two.
const SCRATCH: usize = LABELS.next_power_of_two();

const _: () = assert!(FIRST_OF_MANY + (LABELS - FEW) * MANY == LOGITS && THREADS as usize % (LABELS - FEW) == 0);
const _: () = assert!(MANY.is_multiple_of(LANES) && LANES.is_power_of_two() && SCRATCH <= THREADS as usize);

const fn labels_below(classes: usize) -> usize {
    let (mut group, mut labels) = (0, 0);
    while group < GROUPS.len() && GROUPS[group].classes < classes {
        labels += GROUPS[group].labels;
        group += 1;
    }
    labels
}

/// The 75 cross-entropies of each row of logits, summed.
#[derive(Debug)]
pub struct CrossEntropy(pub Targets);

impl Operation<1> for CrossEntropy {
    fn forward(&self, gpu: &Gpu, [logits]: [&Array; 1], _save: bool) -> (Array, Vec<Array>) {
        let rows = self.0.valid.len();
        let (losses, targets) = (gpu.empty(rows), packed(gpu, &self.0.labels, &self.0.valid));
        let cube = CubeDim::new_1d(THREADS);
        forward::launch(gpu.client(), cubes(rows), cube, logits.arg(), targets.arg(), losses.arg(), rows as u32);
        (losses, vec![targets])
    }

    fn backward(
        &self,
        gpu: &Gpu,
        [logits]: [&Array; 1],
        saved: &[Array],
        gradient: &Array,
        _wanted: [bool; 1],
    ) -> [Option<Array>; 1] {
        let rows = self.0.valid.len();
        let grads = gpu.empty(logits.len());
        let (cube, targets) = (CubeDim::new_1d(THREADS), saved[0].arg());
        let (client, rows) = (gpu.client(), (cubes(rows), rows as u32));
        backward::launch(client, rows.0, cube, logits.arg(), targets, gradient.arg(), grads.arg(), rows.1);
        [Some(grads)]
    }
}

/// The labels [rows, 75] and whether rows are valid, as bytes, [rows, 4 * WORDS].
pub fn packed(gpu: &Gpu, labels: &[u8], valid: &[bool]) -> Array {
    let mut words = vec![0; valid.len() * WORDS];
    for ((words, labels), valid) in words.chunks_exact_mut(WORDS).zip(labels.chunks_exact(LABELS)).zip(valid) {
        let mut bytes = [0; 4 * WORDS];
        bytes[..LABELS].copy_from_slice(labels);
        bytes[LABELS] = u8::from(*valid);
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
    }
    gpu.upload(&words)
}

#[cube(launch)]
fn forward(logits: &[f32], targets: &[u32], losses: &mut [f32], rows: u32) {
    let row = CUBE_POS;
    if row < rows as usize {
        let mut x = Shared::<[f32]>::new_slice(LOGITS);
        let mut of_labels = Shared::<[f32]>::new_slice(SCRATCH);
        let mut partial = Shared::<[f32]>::new_slice(THREADS as usize);
        let is_valid = target(targets, row, LABELS) == 1u32;
        if is_valid {
            load(logits, row, &mut x, THREADS as usize);
            few(&mut x, &mut of_labels, targets, row, false);
            many(&mut x, &mut of_labels, &mut partial, targets, row, false);
            let unit = UNIT_POS as usize;
            if unit >= LABELS && unit < SCRATCH {
                of_labels[unit] = 0.0f32;
            }
            sync_cube();
            add_up(&mut of_labels);
        }
        if UNIT_POS == 0 {
            losses[row] = if is_valid { of_labels[0] } else { 0.0f32.runtime() };
        }
    }
}

#[cube(launch)]
fn backward(logits: &[f32], targets: &[u32], gradient: &[f32], grads: &mut [f32], rows: u32) {
    let row = CUBE_POS;
    if row < rows as usize {
        let mut x = Shared::<[f32]>::new_slice(LOGITS);
        let mut of_labels = Shared::<[f32]>::new_slice(SCRATCH);
        let mut partial = Shared::<[f32]>::new_slice(THREADS as usize);
        let is_valid = target(targets, row, LABELS) == 1u32;
        if is_valid {
            load(logits, row, &mut x, THREADS as usize);
            few(&mut x, &mut of_labels, targets, row, true);
            many(&mut x, &mut of_labels, &mut partial, targets, row, true);
            sync_cube();
        }
        let factor = gradient[row];
        let mut i = UNIT_POS as usize;
        while i < LOGITS {
            grads[row * LOGITS + i] = if is_valid { x[i] * factor } else { 0.0f32.runtime() };
            i += THREADS as usize;
        }
    }
}

/// Byte `i` of a row of targets.
#[cube]
pub fn target(targets: &[u32], row: usize, i: usize) -> u32 {
    (targets[row * WORDS + i / 4] >> ((i % 4) as u32 * 8u32)) & 255u32
}

/// Reads a row of logits by a cube of so many threads, and waits for it.
#[cube]
pub fn load(logits: &[f32], row: usize, x: &mut Shared<[f32]>, #[comptime] threads: usize) {
    let mut i = UNIT_POS as usize;
    while i < LOGITS {
        x[i] = logits[row * LOGITS + i];
        i += threads;
    }
    sync_cube();
}

/// Classes of a label.
#[cube]
pub fn classes_of(label: usize) -> usize {
    let mut classes = GROUPS[0].classes.runtime();
    #[unroll]
    for group in 1..GROUPS.len() {
        if label >= comptime!(GROUPS[group].first) {
            classes = comptime!(GROUPS[group].classes).runtime();
        }
    }
    classes
}

/// First logit of a label.
#[cube]
pub fn first_logit_of(label: usize) -> usize {
    let mut first = label * GROUPS[0].classes;
    #[unroll]
    for group in 1..GROUPS.len() {
        let (label_of_group, logit_of_group, classes) =
            comptime!((GROUPS[group].first, GROUPS[group].first_logit, GROUPS[group].classes));
        if label >= label_of_group {
            first = logit_of_group + (label - label_of_group) * classes;
        }
    }
    first
}

/// The labels with few classes: their losses, or their gradients in place of `x`.
#[cube]
fn few(x: &mut Shared<[f32]>, losses: &mut Shared<[f32]>, targets: &[u32], row: usize, #[comptime] grads: bool) {
    let label = UNIT_POS as usize;
    if label < FEW {
        let first = first_logit_of(label);
        let end = first + classes_of(label);
        let right = first + target(targets, row, label) as usize;
        // Comparisons, which keep NaN out of the largest logit: it comes in with the sum.
        let mut largest = x[first];
        for i in first + 1..end {
            if x[i] > largest {
                largest = x[i];
            }
        }
        let mut sum = 0.0f32;
        for i in first..end {
            let e = f32::exp(x[i] - largest);
            sum += e;
            if grads {
                x[i] = e;
            }
        }
        if grads {
            let inverse = 1.0f32 / sum;
            for i in first..end {
                x[i] *= inverse;
            }
            x[right] -= 1.0f32;
        } else {
            losses[label] = largest + f32::ln(sum) - x[right];
        }
    }
}

/// The labels with many classes: their losses or gradients, with a part of the cube for each.
#[cube]
fn many(
    x: &mut Shared<[f32]>,
    losses: &mut Shared<[f32]>,
    partial: &mut Shared<[f32]>,
    targets: &[u32],
    row: usize,
    #[comptime] grads: bool,
) {
    let unit = UNIT_POS as usize;
    let (part, lane) = (unit / LANES, unit % LANES);
    let first = FIRST_OF_MANY + part * MANY;
    let right = first + target(targets, row, FEW + part) as usize;
    let mut largest = x[first + lane];
    #[unroll]
    for i in 1..MANY / LANES {
        let x = x[first + i * LANES + lane];
        if x > largest {
            largest = x;
        }
    }
    partial[unit] = largest;
    sync_cube();
    let mut half = (LANES / 2).runtime();
    while half > 0 {
        if lane < half && partial[unit + half] > partial[unit] {
            partial[unit] = partial[unit + half];
        }
        sync_cube();
        half /= 2;
    }
    let largest = partial[part * LANES];
    let of_right = x[right];
    sync_cube();
    let mut sum = 0.0f32;
    #[unroll]
    for i in 0..MANY / LANES {
        let at = first + i * LANES + lane;
        let e = f32::exp(x[at] - largest);
        sum += e;
        if grads {
            x[at] = e;
        }
    }
    partial[unit] = sum;
    sync_cube();
    let mut half = (LANES / 2).runtime();
    while half > 0 {
        if lane < half {
            partial[unit] += partial[unit + half];
        }
        sync_cube();
        half /= 2;
    }
    let sum = partial[part * LANES];
    if grads {
        let inverse = 1.0f32 / sum;
        #[unroll]
        for i in 0..MANY / LANES {
            let at = first + i * LANES + lane;
            let one = if at == right { 1.0f32 } else { 0.0f32 };
            x[at] = x[at] * inverse - one;
        }
    } else if lane == 0 {
        losses[FEW + part] = largest + f32::ln(sum) - of_right;
    }
}

/// Leaves the sum of all in the first.
#[cube]
fn add_up(values: &mut Shared<[f32]>) {
    let unit = UNIT_POS as usize;
    let mut half = (SCRATCH / 2).runtime();
    while half > 0 {
        if unit < half {
            values[unit] += values[unit + half];
        }
        sync_cube();
        half /= 2;
    }
}
