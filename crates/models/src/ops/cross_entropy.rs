//! The 75 cross-entropies of a position in one operation (models.md §1.3).

use std::ops::Range;
use std::sync::Arc;

use burn::tensor::Tensor;

use super::exp::exp;
use super::kernel::{Kernel, Operand, apply};
use crate::heads::{GROUPS, LABELS, LOGITS, LabelGroup};

/// What each row of logits should have said.
#[derive(Clone, Debug)]
pub struct Targets {
    /// Classes, [rows, 75]; rows that are not valid hold anything.
    pub labels: Arc<[u8]>,
    /// Whether each row is a real step; the others have loss 0 and no gradient.
    pub valid: Arc<[bool]>,
}

/// Sum of the 75 cross-entropies (natural logarithm) of each row of `logits` [rows, 1878]; gives [rows].
///
/// # Panics
/// Targets and logits differ in rows, or a label is not below its number of classes: callers check labels.
pub fn cross_entropy(logits: Tensor<2>, targets: &Targets) -> Tensor<1> {
    let [rows, columns] = logits.dims();
    assert_eq!((rows, columns), (targets.valid.len(), LOGITS));
    assert_eq!(targets.labels.len(), rows * LABELS);
    apply([Operand::from(logits)], CrossEntropy(targets.clone()))
}

/// The same, composed of Burn's operations, one label after the other.
#[cfg(test)]
fn reference(logits: Tensor<2>, targets: &Targets) -> Tensor<1> {
    use burn::tensor::{Int, TensorData, activation::log_softmax};

    use crate::heads::SPANS;

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

    fn forward(&self, [logits]: [&[f32]; 1], keep: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let mut losses = vec![0.0; self.0.valid.len()];
        let mut slopes = vec![0.0; logits.len()];
        for (row, loss) in losses.iter_mut().enumerate().filter(|(row, _)| self.0.valid[*row]) {
            let of = row * LOGITS..(row + 1) * LOGITS;
            *loss = row_loss(&logits[of.clone()], &mut slopes[of], &self.0.labels[row * LABELS..(row + 1) * LABELS]);
        }
        (losses, if keep { vec![slopes] } else { Vec::new() })
    }

    fn backward(&self, _inputs: [&[f32]; 1], mut kept: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 1] {
        let mut slopes = std::mem::take(&mut kept[0]);
        for (row, factor) in slopes.chunks_exact_mut(LOGITS).zip(gradient) {
            scale(row, *factor);
        }
        [slopes]
    }
}

/// Loss of one row; `slopes` gets its gradient, softmax minus one-hot.
///
/// Three sweeps: differences to each label's largest logit, one exponential over the whole row (most labels are too
/// short to fill a vector), and sums by label.
#[macerator::with_simd]
fn row_loss<S: macerator::Simd>(logits: &[f32], slopes: &mut [f32], labels: &[u8]) -> f32 {
    let mut largest = [0.0; LABELS];
    for group in GROUPS {
        let (span, largest) = (span(&group), &mut largest[group.first..group.first + group.labels]);
        let (logits, slopes) = (&logits[span.clone()], &mut slopes[span]);
        // The same code for each; naming the frequent lengths lets the compiler unroll them.
        match group.classes {
            13 => subtract_largest(13, logits, slopes, largest),
            256 => subtract_largest(256, logits, slopes, largest),
            classes => subtract_largest(classes, logits, slopes, largest),
        }
    }
    for slope in slopes.iter_mut() {
        *slope = exp(*slope);
    }
    let mut loss = 0.0;
    for group in GROUPS {
        let (span, of) = (span(&group), group.first..group.first + group.labels);
        let (logits, slopes) = (&logits[span.clone()], &mut slopes[span]);
        let (largest, labels) = (&largest[of.clone()], &labels[of]);
        loss += match group.classes {
            13 => normalise(13, logits, slopes, largest, labels),
            256 => normalise(256, logits, slopes, largest, labels),
            classes => normalise(classes, logits, slopes, largest, labels),
        };
    }
    loss
}

/// Where the logits of a group lie.
fn span(group: &LabelGroup) -> Range<usize> {
    group.first_logit..group.first_logit + group.labels * group.classes
}

/// Logits minus their label's largest, which goes to `largest`.
#[inline(always)]
fn subtract_largest(classes: usize, logits: &[f32], slopes: &mut [f32], largest: &mut [f32]) {
    let labels = logits.chunks_exact(classes).zip(slopes.chunks_exact_mut(classes));
    for ((x, slopes), largest) in labels.zip(largest) {
        *largest = x.iter().fold(f32::NEG_INFINITY, |largest, &x| if x > largest { x } else { largest });
        for (slope, x) in slopes.iter_mut().zip(x) {
            *slope = x - *largest;
        }
    }
}

/// From exponentials to softmax minus one-hot; returns the sum of the cross-entropies.
#[inline(always)]
fn normalise(classes: usize, logits: &[f32], slopes: &mut [f32], largest: &[f32], labels: &[u8]) -> f32 {
    let mut loss = 0.0;
    let rows = logits.chunks_exact(classes).zip(slopes.chunks_exact_mut(classes));
    for ((x, slopes), (largest, &label)) in rows.zip(largest.iter().zip(labels)) {
        let sum: f32 = if classes < 32 { slopes.iter().sum() } else { super::sum(slopes) };
        let label = usize::from(label);
        loss += largest + sum.ln() - x[label];
        let inverse = 1.0 / sum;
        for slope in slopes.iter_mut() {
            *slope *= inverse;
        }
        slopes[label] -= 1.0;
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
    use super::*;
    use crate::heads::SPANS;
    use crate::testing::{assert_close, assert_finite_differences, random, values};

    fn targets(rows: usize) -> Targets {
        let label = |i: usize| ((i * 31 + 7) % SPANS[i % LABELS].1) as u8;
        Targets { labels: (0..rows * LABELS).map(label).collect(), valid: (0..rows).map(|row| row % 3 != 2).collect() }
    }

    #[test]
    fn the_kernel_equals_the_reference_and_so_do_its_gradients() {
        let targets = targets(7);
        let x = random::<2>([7, LOGITS], 1, 2.0).autodiff().require_grad();
        let pull = random::<1>([7], 2, 1.0);
        let (kernel, composed) = (cross_entropy(x.clone(), &targets), reference(x.clone(), &targets));
        assert_close(&values(&kernel), &values(&composed), 1e-6);
        let found = x.grad(&(kernel * pull.clone()).sum().backward()).unwrap();
        let expected = x.grad(&(composed * pull).sum().backward()).unwrap();
        assert_close(&values(&found), &values(&expected), 1e-6);
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
        assert!(values(&cross_entropy(steep, &targets)).iter().all(|loss| loss.is_finite()));
        let mut broken = vec![0.0; LOGITS];
        broken[LOGITS - 1] = f32::NAN;
        let broken = Tensor::<1>::from_floats(broken.as_slice(), &crate::device::cpu()).unsqueeze::<2>();
        let one = Targets { labels: vec![0; LABELS].into(), valid: [true].into() };
        assert!(values(&cross_entropy(broken, &one))[0].is_nan());
    }
}
