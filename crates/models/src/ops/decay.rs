//! Decays between steps from their logarithms, in decomposed operations.

use burn::tensor::{DType, FloatDType, Tensor};

use super::padding::{fill_pairs, pairs};

/// Sums of log decays, at most 0 each, along the last axis.
///
/// In f64, as the kernels have them: adjacent steps then lose no digits however far a sum has run. Differences are masked
/// before their exponential is taken: above the diagonal that is infinite, and its gradient NaN.
#[derive(Clone, Debug)]
pub(crate) struct DecaySums<const D: usize>(Tensor<D>);

impl<const D: usize> DecaySums<D> {
    /// Computes the sums of these log decays.
    pub fn new(logs: Tensor<D>) -> Self {
        DecaySums(logs.cast(FloatDType::F64).cumsum(D - 1))
    }

    /// Decay from before the first step to after each.
    pub fn since_start(&self) -> Tensor<D> {
        exp(self.0.clone())
    }

    /// Decay from each step to the last.
    pub fn until_end(&self) -> Tensor<D> {
        exp(self.last() - self.0.clone())
    }

    /// Decay over all steps: the last axis is of size 1.
    pub fn whole(&self) -> Tensor<D> {
        exp(self.last())
    }

    /// The sums of these sums' ends: `E` is one axis less, the last one.
    pub fn of_ends<const E: usize>(&self) -> DecaySums<E> {
        DecaySums(self.last().squeeze_dim::<E>(D - 1).cumsum(E - 1))
    }

    /// e^{G_i - G_j} where j ≤ i, 0 where not; `E` is one axis more.
    pub fn between<const E: usize>(&self) -> Tensor<E> {
        self.decay_between(self.0.clone(), |i, j| j > i)
    }

    /// e^{G_{i-1} - G_j} where j < i, 0 where not; `E` is one axis more.
    pub fn before<const E: usize>(&self) -> Tensor<E> {
        let mut shape = self.0.dims();
        let steps = std::mem::replace(&mut shape[D - 1], 1);
        let zeros = Tensor::zeros(shape, (&self.0.device(), DType::F64));
        let earlier = Tensor::cat(vec![zeros, self.0.clone().slice_dim(D - 1, 0..steps - 1)], D - 1);
        self.decay_between(earlier, |i, j| j >= i)
    }

    fn decay_between<const E: usize>(&self, until: Tensor<D>, masked: fn(usize, usize) -> bool) -> Tensor<E> {
        let mask = pairs(self.0.dims()[D - 1], masked, &self.0.device());
        let differences = until.unsqueeze_dim::<E>(D) - self.0.clone().unsqueeze_dim::<E>(D - 1);
        exp(fill_pairs(differences, mask, f64::NEG_INFINITY))
    }

    fn last(&self) -> Tensor<D> {
        let steps = self.0.dims()[D - 1];
        self.0.clone().slice_dim(D - 1, steps - 1..steps)
    }
}

/// Computes the exponentials in f32.
fn exp<const D: usize>(logs: Tensor<D>) -> Tensor<D> {
    logs.cast(FloatDType::F32).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::InitRng;
    use crate::testing::values;

    /// Most steps forget all, some nothing: sums run into the thousands, where a float has three decimals left.
    #[test]
    fn steep_decays_lose_no_digits_and_have_finite_gradients() {
        for steep in [16.0, 40.0] {
            let mut draw = InitRng::seeded(7);
            let logs: Vec<f32> = (0..256)
                .map(|_| draw.uniform(0.0, 1.0))
                .map(|random| if random < 0.3 { -1e-3 * random as f32 } else { -steep })
                .collect();
            let leaf = Tensor::<1>::from_floats(logs.as_slice(), &crate::device::cpu()).autodiff().require_grad();
            let sums = DecaySums::new(leaf.clone().reshape([1, 256]));
            let (between, before) = (sums.between::<3>(), sums.before::<3>());
            let (since, until) = (sums.since_start(), sums.until_end());
            let log = |from: usize, to: usize| logs[from..to].iter().map(|&log| f64::from(log)).sum::<f64>();
            let near = |found: f32, log: f64| (f64::from(found) - log.exp()).abs() < 1e-7;
            let (all, all_before) = (values(&between), values(&before));
            let (all_since, all_until) = (values(&since), values(&until));
            for i in 0..256 {
                for j in 0..256 {
                    let (found, found_before) = (all[i * 256 + j], all_before[i * 256 + j]);
                    assert!(if j <= i { near(found, log(j + 1, i + 1)) } else { found == 0.0 }, "{j} to {i}");
                    assert!(if j < i { near(found_before, log(j + 1, i)) } else { found_before == 0.0 }, "{j}, {i}");
                }
                assert!(near(all_since[i], log(0, i + 1)) && near(all_until[i], log(i + 1, 256)));
            }
            let total = between.sum() + before.sum() + since.sum() + until.sum();
            let gradient = values(&leaf.grad(&total.backward()).unwrap());
            assert!(gradient.iter().all(|grad| grad.is_finite()) && gradient.iter().any(|&grad| grad > 0.1));
        }
    }

    #[test]
    fn ends_are_summed_on() {
        let logs = Tensor::<2>::from_floats([[-1.0, -2.0], [-0.5, -0.25], [0.0, -3.0]], &crate::device::cpu());
        let ends = DecaySums::new(logs).of_ends::<1>();
        let expected = [-3.0f32, -3.75, -6.75].map(f32::exp);
        crate::testing::assert_close(&values(&ends.since_start()), &expected, 1e-7);
    }
}
