//! The cross-entropy of one class a row, over all outputs.

#[cfg(feature = "gpu")]
mod gpu;

use burn::tensor::{Bool, Device, Int, Tensor, TensorData};

use super::Targets;
use crate::ops::exp::exp;
use crate::ops::implementation::{Implementation, implementation};
use crate::ops::kernel::{Kernel, Operand, apply};

/// -ln of the probability of the right class in each row of `logits` [rows, outputs], 0 in rows without target; gives
/// [rows].
///
/// # Panics
/// Targets and logits differ in rows, or a class is not below the number of outputs: callers check targets.
pub fn cross_entropy(logits: Tensor<2>, targets: &Targets) -> Tensor<1> {
    let [rows, outputs] = logits.dims();
    assert_eq!(rows, targets.rows());
    assert!(targets.iter().flatten().all(|class| class < outputs), "a target is none of {outputs} outputs");
    match implementation(&logits.device()) {
        Implementation::Cpu => apply([Operand::from(logits)], CrossEntropy { targets: targets.clone(), outputs }),
        #[cfg(feature = "gpu")]
        Implementation::Gpu => {
            let losses = gpu::CrossEntropy { targets: targets.clone(), outputs };
            crate::gpu::apply([logits.flatten(0, 1)], losses)
        }
        Implementation::Decomposed => decompose(logits, targets),
    }
}

/// Computes [`cross_entropy`] by Burn's operations. The gradient is computed with the losses, once and outside the graph.
fn decompose(logits: Tensor<2>, targets: &Targets) -> Tensor<1> {
    let shape = logits.dims();
    let is_tracked = logits.is_autodiff();
    let plain = if is_tracked { logits.clone().inner() } else { logits.clone() };
    let right = right_classes(targets, shape, &plain.device());
    let without: Vec<bool> = targets.iter().map(|class| class.is_none()).collect();
    let without = Tensor::<2, Bool>::from_data(TensorData::new(without, [shape[0], 1]), &plain.device());
    let differences = plain.clone() - plain.max_dim(1);
    let exponentials = differences.clone().exp();
    let sums = exponentials.clone().sum_dim(1);
    let of_right = differences.mask_fill(right.clone().bool_not(), 0.0).sum_dim(1);
    let mut losses = sums.clone().log() - of_right;
    if is_tracked {
        let grads = (exponentials / sums - right.float()).mask_fill(without.clone().expand(shape), 0.0);
        // A sum with that gradient; only its gradient is wanted of it. A logit of -∞ has gradient 0, and 0·∞ is no number.
        let along = (logits.mask_fill(grads.clone().equal_elem(0.0), 0.0) * grads).sum_dim(1);
        // Nor is ∞ less ∞: where the right class has -∞, the loss is infinite and no step is taken.
        let nothing = along.clone() - along.detach();
        let infinite = nothing.clone().is_nan();
        losses = nothing.mask_fill(infinite, 0.0) + losses;
    }
    losses.mask_fill(without, 0.0).reshape([shape[0]])
}

/// True at the right class of each row, [rows, outputs].
fn right_classes(targets: &Targets, shape: [usize; 2], device: &Device) -> Tensor<2, Bool> {
    let right: Vec<i32> = targets.iter().map(|class| class.map_or(-1, |class| class as i32)).collect();
    let right = Tensor::<2, Int>::from_data(TensorData::new(right, [shape[0], 1]), device).expand(shape);
    let all: Vec<i32> = (0..shape[1] as i32).collect();
    right.equal(Tensor::<2, Int>::from_data(TensorData::new(all, [1, shape[1]]), device).expand(shape))
}

#[derive(Debug)]
struct CrossEntropy {
    targets: Targets,
    outputs: usize,
}

impl Kernel<1> for CrossEntropy {
    fn shape(&self) -> Vec<usize> {
        vec![self.targets.rows()]
    }

    fn forward(&self, [logits]: [&[f32]; 1], save: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let mut losses = vec![0.0; self.targets.rows()];
        let mut grads = vec![0.0; logits.len()];
        let rows = logits.chunks_exact(self.outputs).zip(grads.chunks_exact_mut(self.outputs));
        for ((loss, class), (logits, grads)) in losses.iter_mut().zip(self.targets.iter()).zip(rows) {
            if let Some(class) = class {
                *loss = row_loss(logits, grads, class);
            }
        }
        (losses, if save { vec![grads] } else { Vec::new() })
    }

    fn backward(&self, _inputs: [&[f32]; 1], mut saved: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 1] {
        let mut grads = std::mem::take(&mut saved[0]);
        for (row, factor) in grads.chunks_exact_mut(self.outputs).zip(gradient) {
            scale(row, *factor);
        }
        [grads]
    }
}

/// Loss of one row; `grads` gets its gradient, softmax minus one-hot.
#[macerator::with_simd]
fn row_loss<S: macerator::Simd>(logits: &[f32], grads: &mut [f32], class: usize) -> f32 {
    let largest = logits.iter().fold(f32::NEG_INFINITY, |largest, &x| if x > largest { x } else { largest });
    for (grad, x) in grads.iter_mut().zip(logits) {
        *grad = exp(x - largest);
    }
    let sum = crate::ops::sum(grads);
    scale_all(grads, 1.0 / sum);
    grads[class] -= 1.0;
    largest + sum.ln() - logits[class]
}

#[macerator::with_simd]
fn scale<S: macerator::Simd>(row: &mut [f32], factor: f32) {
    scale_all(row, factor);
}

#[inline(always)]
fn scale_all(row: &mut [f32], factor: f32) {
    for value in row {
        *value *= factor;
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::activation::log_softmax;

    use super::super::{NONE, loss};
    use super::*;
    use crate::testing::{assert_close, assert_finite_differences, random, values};

    const OUTPUTS: usize = 37;

    fn targets() -> Targets {
        Targets::new([3, NONE, 0, 36, NONE, 17])
    }

    #[test]
    fn both_forms_equal_the_formula_and_so_do_their_gradients() {
        let x = random::<2>([6, OUTPUTS], 1, 2.0).autodiff().require_grad();
        let pull = random::<1>([6], 2, 1.0);
        let right = right_classes(&targets(), [6, OUTPUTS], &x.device()).bool_not();
        let truth = log_softmax(x.clone(), 1).mask_fill(right, 0.0).sum_dim(1).neg().reshape([6]);
        let expected = x.grad(&(truth.clone() * pull.clone()).sum().backward()).unwrap();
        for form in [cross_entropy(x.clone(), &targets()), decompose(x.clone(), &targets())] {
            assert_close(&values(&form), &values(&truth), 1e-6);
            let found = x.grad(&(form * pull.clone()).sum().backward()).unwrap();
            assert_close(&values(&found), &values(&expected), 1e-6);
        }
        assert_close(&values(&decompose(x.inner(), &targets())), &values(&truth), 1e-6);
        assert_finite_differences(random::<2>([6, OUTPUTS], 1, 1.0), |x| cross_entropy(x, &targets()));
    }

    #[test]
    fn the_loss_is_a_mean_over_targets() {
        let x = random::<2>([6, OUTPUTS], 1, 2.0).autodiff().require_grad();
        let rows = values(&cross_entropy(x.clone(), &targets()));
        assert_eq!((targets().count(), rows[1], rows[4]), (4, 0.0, 0.0));
        let share = values(&loss(x, &targets(), 4).share).iter().sum::<f32>();
        assert!((share - rows.iter().sum::<f32>() / 4.0).abs() < 1e-6);
    }

    #[test]
    fn steep_logits_stay_finite_nan_is_not_hidden_and_rows_without_target_are_not_looked_at() {
        let mut logits = values(&random::<2>([6, OUTPUTS], 1, 1e4));
        logits[OUTPUTS..2 * OUTPUTS].fill(f32::NAN);
        logits[2 * OUTPUTS + 5] = f32::NEG_INFINITY;
        logits[3 * OUTPUTS + 36] = f32::NEG_INFINITY;
        logits[5 * OUTPUTS + 9] = f32::NAN;
        let leaf = Tensor::<1>::from_floats(logits.as_slice(), &crate::device::cpu()).reshape([6, OUTPUTS]);
        let leaf = leaf.autodiff().require_grad();
        for losses in [cross_entropy(leaf.clone(), &targets()), decompose(leaf.clone(), &targets())] {
            let grads = values(&leaf.grad(&losses.clone().sum().backward()).unwrap());
            let losses = values(&losses);
            assert!(losses[0].is_finite() && losses[2].is_finite() && losses[5].is_nan(), "{losses:?}");
            assert_eq!((losses[1], losses[3]), (0.0, f32::INFINITY));
            assert!(grads[..3 * OUTPUTS].iter().all(|grad| grad.is_finite()));
            assert!(grads[OUTPUTS..2 * OUTPUTS].iter().all(|&grad| grad == 0.0));
        }
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn a_gpu_agrees_with_the_processor() {
        for outputs in [1, OUTPUTS, 300, 1968] {
            let classes = [0, NONE, outputs as u16 - 1, outputs as u16 / 2, NONE];
            let logits = random::<1>([5 * outputs], 1, 2.0);
            crate::testing::assert_gpu_agrees([logits], 1e-5, |[logits]| {
                cross_entropy(logits.reshape([5, outputs]), &Targets::new(classes))
            });
        }
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn on_a_gpu_steep_logits_stay_finite_and_nan_is_not_hidden() {
        let Some(gpu) = crate::testing::gpu() else { return };
        let mut logits = values(&random::<2>([4, OUTPUTS], 1, 1e4));
        logits[OUTPUTS..2 * OUTPUTS].fill(f32::NAN);
        logits[2 * OUTPUTS + 36] = f32::NEG_INFINITY;
        logits[3 * OUTPUTS + 9] = f32::NAN;
        let leaf = Tensor::<1>::from_floats(logits.as_slice(), &gpu).reshape([4, OUTPUTS]).autodiff().require_grad();
        let losses = cross_entropy(leaf.clone(), &Targets::new([3, NONE, 36, 17]));
        let grads = values(&leaf.grad(&losses.clone().sum().backward()).unwrap());
        let losses = values(&losses);
        assert!(losses[0].is_finite() && losses[3].is_nan(), "{losses:?}");
        assert_eq!((losses[1], losses[2]), (0.0, f32::INFINITY));
        assert!(grads[..2 * OUTPUTS].iter().all(|grad| grad.is_finite()));
        assert!(grads[OUTPUTS..2 * OUTPUTS].iter().all(|&grad| grad == 0.0));
    }
}
