//! The loss of a batch (models.md §1.3): the 75 cross-entropies of a position in one operation, summed over all real
//! steps, over 75 times their number.

#[cfg(feature = "gpu")]
pub(super) mod gpu;

use std::ops::Range;
use std::sync::Arc;

use burn::tensor::{Bool, Device, Int, Tensor, TensorData};

use super::{GROUPS, LABELS, LOGITS, LabelGroup};
use crate::loss::Loss;
use crate::ops::exp::exp;
use crate::ops::implementation::{Implementation, implementation};
use crate::ops::kernel::{Kernel, Operand, apply};

/// The right classes of each row of logits.
#[derive(Clone, Debug)]
pub struct Targets {
    /// Classes, [rows, 75]; rows that are not valid hold anything.
    pub labels: Arc<[u8]>,
    /// True for each row that is a real step; the others have loss 0 and no gradient.
    pub valid: Arc<[bool]>,
}

/// Loss of `logits` [rows, 1878] against `targets`, as a share of a batch with `batch_steps` real steps in all.
pub fn loss(logits: Tensor<2>, targets: &Targets, batch_steps: usize) -> Loss {
    Loss::new(cross_entropy(logits, targets), denominator(batch_steps))
}

/// Returns the divisor of a sum of cross-entropies over `steps` real steps; at least 1.
pub fn denominator(steps: usize) -> f64 {
    ((LABELS * steps) as f64).max(1.0)
}

/// Sum of the 75 cross-entropies (natural logarithm) of each row of `logits` [rows, 1878]; gives [rows].
///
/// # Panics
/// Targets and logits differ in rows, or a label is not below its number of classes: callers check labels.
pub fn cross_entropy(logits: Tensor<2>, targets: &Targets) -> Tensor<1> {
    let [rows, columns] = logits.dims();
    assert_eq!((rows, columns), (targets.valid.len(), LOGITS));
    assert_eq!(targets.labels.len(), rows * LABELS);
    match implementation(&logits.device()) {
        Implementation::Cpu => apply([Operand::from(logits)], CrossEntropy(targets.clone())),
        #[cfg(feature = "gpu")]
        Implementation::Gpu => crate::gpu::apply([logits.flatten(0, 1)], gpu::CrossEntropy(targets.clone())),
        Implementation::Decomposed => decompose(logits, targets),
    }
}

/// Computes [`cross_entropy`] by Burn's operations. The gradient is at hand with the losses, so it is computed with them,
/// once and outside the graph; Burn would slice it together from as many full-size tensors as there are kinds of labels.
fn decompose(logits: Tensor<2>, targets: &Targets) -> Tensor<1> {
    let [rows, _] = logits.dims();
    let is_tracked = logits.is_autodiff();
    let plain = if is_tracked { logits.clone().inner() } else { logits.clone() };
    let device = plain.device();
    let padding: Vec<bool> = targets.valid.iter().map(|&valid| !valid).collect();
    let padding = Tensor::<2, Bool>::from_data(TensorData::new(padding, [rows, 1]), &device);
    let mut losses = Tensor::<2>::zeros([rows, 1], &device);
    let mut grads = Vec::new();
    for group in groups_of_one_size() {
        let (found, grad) = group_losses(&plain, targets, &group, is_tracked);
        losses = losses + found;
        grads.extend(grad);
    }
    if is_tracked {
        let grads = Tensor::cat(grads, 1).mask_fill(padding.clone().expand([rows, LOGITS]), 0.0);
        // A sum with that gradient; only its gradient is wanted of it. A logit of -∞ has gradient 0, and 0·∞ is no number.
        let along = (logits.mask_fill(grads.clone().equal_elem(0.0), 0.0) * grads).sum_dim(1);
        // Nor is ∞ less ∞: where the right class has -∞, the loss is infinite and no step is taken.
        let nothing = along.clone() - along.detach();
        let infinite = nothing.clone().is_nan();
        losses = nothing.mask_fill(infinite, 0.0) + losses;
    }
    losses.mask_fill(padding, 0.0).reshape([rows])
}

/// Groups of labels with as many classes each, neighbours taken together.
fn groups_of_one_size() -> Vec<LabelGroup> {
    let mut groups: Vec<LabelGroup> = Vec::new();
    for group in GROUPS {
        match groups.last_mut() {
            Some(last) if last.classes == group.classes => last.labels += group.labels,
            _ => groups.push(group),
        }
    }
    groups
}

/// Sums [rows, 1] of a group's cross-entropies and, if wanted, their gradient with respect to the group's logits, softmax
/// minus one-hot.
fn group_losses(
    logits: &Tensor<2>,
    targets: &Targets,
    group: &LabelGroup,
    with_grads: bool,
) -> (Tensor<2>, Option<Tensor<2>>) {
    let [rows, _] = logits.dims();
    let shape = [rows * group.labels, group.classes];
    let x = logits.clone().slice([0..rows, span(group)]).reshape(shape);
    let right = right_classes(targets, group, &logits.device());
    let differences = x.clone() - x.max_dim(1);
    let exponentials = differences.clone().exp();
    let sums = exponentials.clone().sum_dim(1);
    let of_right = differences.mask_fill(right.clone().bool_not(), 0.0).sum_dim(1);
    let losses = (sums.clone().log() - of_right).reshape([rows, group.labels]).sum_dim(1);
    let grads = with_grads.then(|| (exponentials / sums - right.float()).reshape([rows, group.labels * group.classes]));
    (losses, grads)
}

/// Returns the right class of each label, [rows * labels, classes].
fn right_classes(targets: &Targets, group: &LabelGroup, device: &Device) -> Tensor<2, Bool> {
    let of_row = |row: &[u8]| row[group.first..group.first + group.labels].to_vec();
    let labels: Vec<i32> = targets.labels.chunks_exact(LABELS).flat_map(of_row).map(i32::from).collect();
    let shape = [labels.len(), group.classes];
    let labels = Tensor::<2, Int>::from_data(TensorData::new(labels, [shape[0], 1]), device).expand(shape);
    let classes: Vec<i32> = (0..group.classes as i32).collect();
    let classes = Tensor::<2, Int>::from_data(TensorData::new(classes, [1, group.classes]), device).expand(shape);
    labels.equal(classes)
}

/// Computes [`cross_entropy`] by the formulas, one label after the other.
#[cfg(test)]
fn reference(logits: Tensor<2>, targets: &Targets) -> Tensor<1> {
    use burn::tensor::activation::log_softmax;

    use super::SPANS;

    let [rows, _] = logits.dims();
    let device = logits.device();
    let mut total = Tensor::<2>::zeros([rows, 1], &device);
    for (label, &(start, classes)) in SPANS.iter().enumerate() {
        let wanted: Vec<i32> = (0..rows).map(|row| i32::from(targets.labels[row * LABELS + label])).collect();
        let wanted = Tensor::<2, Int>::from_data(TensorData::new(wanted, [rows, 1]), &device);
        let logs = log_softmax(logits.clone().slice([0..rows, start..start + classes]), 1);
        total = total - logs.gather(1, wanted);
    }
    let valid: Vec<f32> = targets.valid.iter().map(|&valid| f32::from(u8::from(valid))).collect();
    (total * Tensor::from_data(TensorData::new(valid, [rows, 1]), &device)).squeeze_dim::<1>(1)
}

#[derive(Debug)]
struct CrossEntropy(Targets);

impl Kernel<1> for CrossEntropy {
    fn shape(&self) -> Vec<usize> {
        vec![self.0.valid.len()]
    }

    fn forward(&self, [logits]: [&[f32]; 1], save: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let mut losses = vec![0.0; self.0.valid.len()];
        let mut grads = vec![0.0; logits.len()];
        for (row, loss) in losses.iter_mut().enumerate().filter(|(row, _)| self.0.valid[*row]) {
            let of = row * LOGITS..(row + 1) * LOGITS;
            *loss = row_loss(&logits[of.clone()], &mut grads[of], &self.0.labels[row * LABELS..(row + 1) * LABELS]);
        }
        (losses, if save { vec![grads] } else { Vec::new() })
    }

    fn backward(&self, _inputs: [&[f32]; 1], mut saved: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 1] {
        let mut grads = std::mem::take(&mut saved[0]);
        for (row, factor) in grads.chunks_exact_mut(LOGITS).zip(gradient) {
            scale(row, *factor);
        }
        [grads]
    }
}

/// Loss of one row; `grads` gets its gradient, softmax minus one-hot.
///
/// Three sweeps: differences to each label's largest logit, one exponential over the whole row (most labels are too
/// short to fill a vector), and sums by label.
#[macerator::with_simd]
fn row_loss<S: macerator::Simd>(logits: &[f32], grads: &mut [f32], labels: &[u8]) -> f32 {
    let mut largest = [0.0; LABELS];
    for group in GROUPS {
        let (span, largest) = (span(&group), &mut largest[group.first..group.first + group.labels]);
        let (logits, grads) = (&logits[span.clone()], &mut grads[span]);
        // The same code for each; naming the frequent lengths lets the compiler unroll them.
        match group.classes {
            13 => subtract_largest(13, logits, grads, largest),
            256 => subtract_largest(256, logits, grads, largest),
            classes => subtract_largest(classes, logits, grads, largest),
        }
    }
    for grad in grads.iter_mut() {
        *grad = exp(*grad);
    }
    let mut loss = 0.0;
    for group in GROUPS {
        let (span, of) = (span(&group), group.first..group.first + group.labels);
        let (logits, grads) = (&logits[span.clone()], &mut grads[span]);
        let (largest, labels) = (&largest[of.clone()], &labels[of]);
        loss += match group.classes {
            13 => normalise(13, logits, grads, largest, labels),
            256 => normalise(256, logits, grads, largest, labels),
            classes => normalise(classes, logits, grads, largest, labels),
        };
    }
    loss
}

/// Returns the range of a group's logits.
fn span(group: &LabelGroup) -> Range<usize> {
    group.first_logit..group.first_logit + group.labels * group.classes
}

/// Logits minus their label's largest, which goes to `largest`.
#[inline(always)]
fn subtract_largest(classes: usize, logits: &[f32], grads: &mut [f32], largest: &mut [f32]) {
    let labels = logits.chunks_exact(classes).zip(grads.chunks_exact_mut(classes));
    for ((x, grads), largest) in labels.zip(largest) {
        *largest = x.iter().fold(f32::NEG_INFINITY, |largest, &x| if x > largest { x } else { largest });
        for (grad, x) in grads.iter_mut().zip(x) {
            *grad = x - *largest;
        }
    }
}

/// Turns exponentials into softmax minus one-hot; returns the sum of the cross-entropies.
#[inline(always)]
fn normalise(classes: usize, logits: &[f32], grads: &mut [f32], largest: &[f32], labels: &[u8]) -> f32 {
    let mut loss = 0.0;
    let rows = logits.chunks_exact(classes).zip(grads.chunks_exact_mut(classes));
    for ((x, grads), (largest, &label)) in rows.zip(largest.iter().zip(labels)) {
        let sum: f32 = if classes < 32 { grads.iter().sum() } else { crate::ops::sum(grads) };
        let label = usize::from(label);
        loss += largest + sum.ln() - x[label];
        let inverse = 1.0 / sum;
        for grad in grads.iter_mut() {
            *grad *= inverse;
        }
        grads[label] -= 1.0;
    }
    loss
}

#[macerator::with_simd]
fn scale<S: macerator::Simd>(row: &mut [f32], factor: f32) {
    for value in row {
        *value *= factor;
    }
}

#[cfg(test)]
mod tests {
    use super::super::SPANS;
    use super::*;
    use crate::testing::{assert_close, assert_finite_differences, random, values};

    fn targets(rows: usize) -> Targets {
        let label = |i: usize| ((i * 31 + 7) % SPANS[i % LABELS].1) as u8;
        Targets { labels: (0..rows * LABELS).map(label).collect(), valid: (0..rows).map(|row| row % 3 != 2).collect() }
    }

    #[test]
    fn both_forms_equal_the_reference_and_so_do_their_gradients() {
        let targets = targets(7);
        let x = random::<2>([7, LOGITS], 1, 2.0).autodiff().require_grad();
        let pull = random::<1>([7], 2, 1.0);
        let truth = reference(x.clone(), &targets);
        let expected = x.grad(&(truth.clone() * pull.clone()).sum().backward()).unwrap();
        for form in [cross_entropy(x.clone(), &targets), decompose(x.clone(), &targets)] {
            assert_close(&values(&form), &values(&truth), 1e-6);
            let found = x.grad(&(form * pull.clone()).sum().backward()).unwrap();
            assert_close(&values(&found), &values(&expected), 1e-6);
        }
        assert_close(&values(&decompose(x.inner(), &targets)), &values(&truth), 1e-6);
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn a_gpu_agrees_with_the_processor() {
        for rows in [0, 1, 7] {
            let targets = targets(rows);
            let x = random::<2>([rows, LOGITS], 1, 2.0).flatten(0, 1);
            crate::testing::assert_gpu_agrees([x], 1e-6, |[x]| cross_entropy(x.reshape([rows, LOGITS]), &targets));
        }
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn a_gpu_keeps_steep_logits_finite_hides_no_nan_and_looks_at_no_padding() {
        let Some(gpu) = crate::testing::gpu() else { return };
        let targets = targets(6);
        let mut logits = values(&random::<2>([6, LOGITS], 1, 1.0));
        logits[..LOGITS].iter_mut().for_each(|logit| *logit *= 1e4);
        logits[LOGITS + 9] = f32::NEG_INFINITY;
        logits[2 * LOGITS..3 * LOGITS].fill(f32::NAN);
        logits[3 * LOGITS + 5] = f32::NAN;
        let right = LOGITS - 256 + usize::from(targets.labels[5 * LABELS - 1]);
        logits[4 * LOGITS + right] = f32::NEG_INFINITY;
        logits[5 * LOGITS..].fill(f32::NAN);
        let on = |device: &Device| {
            let leaf = Tensor::<2>::from_data(TensorData::new(logits.clone(), [6, LOGITS]), device);
            let leaf = leaf.autodiff().require_grad();
            let losses = cross_entropy(leaf.clone(), &targets);
            let grads = values(&leaf.grad(&losses.clone().sum().backward()).unwrap());
            [values(&losses), grads].concat()
        };
        let (expected, found) = (on(&crate::device::cpu()), on(&gpu));
        assert!(found[0].is_finite() && found[1].is_finite() && found[2] == 0.0 && found[3].is_nan());
        assert_eq!((found[4], found[5]), (f32::INFINITY, 0.0));
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let near = (found - expected).abs() <= 1e-6 * expected.abs().max(1.0);
            assert!(near || found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(), "{i}");
        }
    }

    #[test]
    fn its_gradient_is_its_slope() {
        let targets = targets(2);
        assert_finite_differences(random::<2>([2, LOGITS], 1, 1.0), |x| cross_entropy(x, &targets));
    }

    #[test]
    fn steep_logits_stay_finite_and_nan_is_not_hidden() {
        let targets = targets(2);
        let steep = random::<2>([2, LOGITS], 1, 1e4);
        let losses = values(&cross_entropy(steep.clone(), &targets));
        assert!(losses.iter().all(|loss| loss.is_finite()));
        let leaf = steep.autodiff().require_grad();
        let decomposed = decompose(leaf.clone(), &targets);
        assert_close(&values(&decomposed), &losses, 1e-6);
        assert!(values(&leaf.grad(&decomposed.sum().backward()).unwrap()).iter().all(|grad| grad.is_finite()));
        // A class that is ruled out costs nothing and has no gradient.
        let ruled_out = |i: usize, logit: f32| if i % LOGITS == 9 { f32::NEG_INFINITY } else { logit };
        let logits = values(&random::<2>([2, LOGITS], 3, 1.0));
        let logits: Vec<f32> = logits.into_iter().enumerate().map(|(i, logit)| ruled_out(i, logit)).collect();
        let leaf = Tensor::<1>::from_floats(logits.as_slice(), &crate::device::cpu()).reshape([2, LOGITS]);
        let leaf = leaf.autodiff().require_grad();
        let [kernel, decomposed] =
            [cross_entropy(leaf.clone(), &targets), decompose(leaf.clone(), &targets)].map(|losses| {
                let grads = values(&leaf.grad(&losses.clone().sum().backward()).unwrap());
                assert!(values(&losses).iter().chain(&grads).all(|value| value.is_finite()));
                (values(&losses), grads)
            });
        assert!(targets.labels[0] != 9 && targets.labels[LABELS] != 9, "that class is right");
        assert_close(&decomposed.0, &kernel.0, 1e-6);
        assert_close(&decomposed.1, &kernel.1, 1e-6);
        // The kernel's exponential ends above 0, far below any number that counts.
        assert!(kernel.1[9] < f32::MIN_POSITIVE && decomposed.1[LOGITS + 9] == 0.0);
        let mut broken = vec![0.0; LOGITS];
        broken[LOGITS - 1] = f32::NAN;
        let broken = Tensor::<1>::from_floats(broken.as_slice(), &crate::device::cpu()).unsqueeze::<2>();
        let one = Targets { labels: vec![0; LABELS].into(), valid: [true].into() };
        let both =
            |logits: Tensor<2>| [cross_entropy(logits.clone(), &one), decompose(logits, &one)].map(|l| values(&l)[0]);
        assert!(both(broken.clone()).iter().chain(&both(broken.autodiff().require_grad())).all(|loss| loss.is_nan()));
        // Where the right class is ruled out, the loss is infinite.
        let mut impossible = vec![0.0; LOGITS];
        impossible[0] = f32::NEG_INFINITY;
        let impossible = Tensor::<1>::from_floats(impossible.as_slice(), &crate::device::cpu()).unsqueeze::<2>();
        let tracked = impossible.clone().autodiff().require_grad();
        assert_eq!([both(impossible), both(tracked)], [[f32::INFINITY; 2]; 2]);
    }
}
