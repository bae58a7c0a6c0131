//! The path that drives the equation: time, and the values of the layer's input.

#[cfg(feature = "gpu")]
mod gpu;

use std::sync::Arc;

use burn::tensor::Tensor;

use crate::Tokens;
use crate::ops::implementation::{Implementation, implementation};
use crate::ops::kernel::{Kernel, Operand, apply};
use crate::ops::padding::without_padding;

/// The factor of the increments (the presets' `slice_scale`).
pub const SCALE: f32 = 0.1;

/// Increments of the path (t, u_t), scaled: [batch * time, width] to [batch * time, 1 + width]. Before the first step
/// the path is at zero, so the first increment is u_0 itself. Zero at padded steps.
pub fn increments(u: Tensor<2>, tokens: &Tokens) -> Tensor<2> {
    let ([_, width], time, lengths) = (u.dims(), tokens.time(), tokens.lengths().clone());
    match implementation(&u.device()) {
        Implementation::Cpu => apply([Operand::from(u)], Increments { time, lengths, width }),
        #[cfg(feature = "gpu")]
        Implementation::Gpu => crate::gpu::apply([u.flatten(0, 1)], gpu::Increments { time, lengths, width })
            .reshape([tokens.rows(), width + 1]),
        Implementation::Decomposed => decompose(u, tokens),
    }
}

/// Computes [`increments`] by Burn's operations.
fn decompose(u: Tensor<2>, tokens: &Tokens) -> Tensor<2> {
    let ([rows, width], batch, time) = (u.dims(), tokens.batch(), tokens.time());
    let u = u.reshape([batch, time, width]);
    let none = Tensor::zeros([batch, 1, width], &u.device());
    let last = Tensor::cat(vec![none, u.clone().slice([0..batch, 0..time - 1])], 1);
    let ones = Tensor::ones([batch, time, 1], &u.device());
    let increments = Tensor::cat(vec![ones, u - last], 2) * SCALE;
    without_padding(increments.reshape([rows, width + 1]), time, tokens.lengths())
}

#[derive(Debug)]
struct Increments {
    time: usize,
    lengths: Arc<[usize]>,
    width: usize,
}

impl Increments {
    /// First row and number of real steps of each game.
    fn games(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.lengths.iter().enumerate().map(|(game, &steps)| (game * self.time, steps))
    }
}

impl Kernel<1> for Increments {
    fn shape(&self) -> Vec<usize> {
        vec![self.lengths.len() * self.time, self.width + 1]
    }

    fn forward(&self, [u]: [&[f32]; 1], _keep: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let mut z = vec![0.0; self.lengths.len() * self.time * (self.width + 1)];
        let none = vec![0.0; self.width];
        for (row, steps) in self.games() {
            let mut last = none.as_slice();
            let u = u[row * self.width..(row + steps) * self.width].chunks_exact(self.width);
            for (u, z) in u.zip(z[row * (self.width + 1)..].chunks_exact_mut(self.width + 1)) {
                z[0] = SCALE;
                subtract(u, last, &mut z[1..]);
                last = u;
            }
        }
        (z, Vec::new())
    }

    fn backward(&self, _inputs: [&[f32]; 1], _kept: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 1] {
        let mut grad_u = vec![0.0; self.lengths.len() * self.time * self.width];
        let none = vec![0.0; self.width];
        for (row, steps) in self.games() {
            let of = |t: usize| &gradient[(row + t) * (self.width + 1) + 1..(row + t + 1) * (self.width + 1)];
            let into = grad_u[row * self.width..].chunks_exact_mut(self.width);
            for (t, into) in into.take(steps).enumerate() {
                subtract(of(t), if t + 1 < steps { of(t + 1) } else { &none }, into);
            }
        }
        [grad_u]
    }
}

/// (a - b) times the scale.
#[macerator::with_simd]
fn subtract<S: macerator::Simd>(a: &[f32], b: &[f32], into: &mut [f32]) {
    for ((into, a), b) in into.iter_mut().zip(a).zip(b) {
        *into = (a - b) * SCALE;
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::TensorData;

    use super::*;
    use crate::testing::{assert_close, random, values};

    #[test]
    fn the_first_increment_is_the_first_value_and_time_comes_first() {
        let tokens = Tokens::padded([[1u16; 3].as_slice(), &[1; 2]], 0);
        let u = [1.0, 2.0, 4.0, 8.0, 5.0, 5.0, 3.0, 3.0, 4.0, 2.0, 9.0, 9.0];
        let u = Tensor::<2>::from_data(TensorData::new(u.to_vec(), [6, 2]), &crate::device::cpu());
        let expected: Vec<f32> =
            [[1.0, 1.0, 2.0], [1.0, 3.0, 6.0], [1.0, 1.0, -3.0], [1.0, 3.0, 3.0], [1.0, 1.0, -1.0], [0.0, 0.0, 0.0]]
                .concat();
        let expected: Vec<f32> = expected.iter().map(|value| value * SCALE).collect();
        assert_close(&values(&increments(u.clone(), &tokens)), &expected, 1e-7);
        assert_close(&values(&decompose(u, &tokens)), &expected, 1e-7);
    }

    #[test]
    fn the_kernel_equals_the_composed_form_and_so_do_its_gradients() {
        let tokens = Tokens::padded([[1u16; 7].as_slice(), &[1; 4], &[1; 1]], 0);
        let u = random::<2>([21, 5], 1, 1.0).autodiff().require_grad();
        let pull = random::<2>([21, 6], 2, 1.0);
        let (kernel, decomposed) = (increments(u.clone(), &tokens), decompose(u.clone(), &tokens));
        assert_close(&values(&kernel), &values(&decomposed), 1e-6);
        let found = u.grad(&(kernel * pull.clone()).sum().backward()).unwrap();
        let expected = u.grad(&(decomposed * pull).sum().backward()).unwrap();
        assert_close(&values(&found), &values(&expected), 1e-6);
    }
    #[cfg(feature = "gpu")]
    #[test]
    fn a_gpu_agrees_with_the_processor() {
        let games = [[1u16; 40].as_slice(), &[1; 4], &[], &[1; 1], &[1; 40]];
        let tokens = Tokens::padded(games, 0);
        let mut u = values(&random::<2>([200, 19], 1, 1.0));
        u[45 * 19..80 * 19].fill(f32::NAN);
        let u = Tensor::<1>::from_floats(u.as_slice(), &crate::device::cpu());
        crate::testing::assert_gpu_agrees([u], 1e-6, |[u]| increments(u.reshape([200, 19]), &tokens).flatten(0, 1));
    }
}
