//! Affine maps in a precision.

use burn::tensor::Tensor;

use super::kernel::{Kernel, Operand, apply};
use super::matrix::{Matrix, MatrixMut, multiply};
use crate::Precision;

/// x Wᵀ + b: `x` [rows, in], `weight` [out, in], `bias` [out] if any; gives [rows, out]. Operands of the three products,
/// one forward and two backward, are rounded as `precision` says.
pub fn linear(x: Tensor<2>, weight: Tensor<2>, bias: Option<Tensor<1>>, precision: Precision) -> Tensor<2> {
    if precision == Precision::Fp32 {
        let y = x.matmul(weight.transpose());
        return match bias {
            Some(bias) => y + bias.unsqueeze::<2>(),
            None => y,
        };
    }
    let ([rows, inputs], [outputs, _]) = (x.dims(), weight.dims());
    let kernel = Linear { rows, inputs, outputs, precision };
    match bias {
        Some(bias) => apply([Operand::from(x), Operand::from(weight), Operand::from(bias)], kernel),
        None => apply([Operand::from(x), Operand::from(weight)], kernel),
    }
}

/// Rounded operands; Burn's own product is used where nothing is rounded.
#[derive(Debug)]
struct Linear {
    rows: usize,
    inputs: usize,
    outputs: usize,
    precision: Precision,
}

impl Linear {
    fn rounded(&self, values: &[f32]) -> Vec<f32> {
        let mut values = values.to_vec();
        self.precision.round(&mut values);
        values
    }

    fn forward(&self, x: &[f32], weight: &[f32], bias: Option<&[f32]>) -> Vec<f32> {
        let (x, weight) = (self.rounded(x), self.rounded(weight));
        let mut y = vec![0.0; self.rows * self.outputs];
        multiply(
            MatrixMut::new(&mut y, self.rows, self.outputs, self.outputs),
            Matrix::new(&x, self.rows, self.inputs, self.inputs),
            Matrix::new(&weight, self.outputs, self.inputs, self.inputs).transposed(),
        );
        if let Some(bias) = bias {
            let mut bias = bias.to_vec();
            self.precision.round_result(&mut bias);
            for y in y.chunks_exact_mut(self.outputs) {
                add(y, &bias);
            }
        }
        self.precision.round_result(&mut y);
        y
    }

    /// Gradients of x, weight and bias.
    fn backward(&self, x: &[f32], weight: &[f32], gradient: &[f32]) -> [Vec<f32>; 3] {
        let (x, weight, rounded) = (self.rounded(x), self.rounded(weight), self.rounded(gradient));
        let (mut for_x, mut for_weight) = (vec![0.0; x.len()], vec![0.0; weight.len()]);
        let of_output = Matrix::new(&rounded, self.rows, self.outputs, self.outputs);
        multiply(
            MatrixMut::new(&mut for_x, self.rows, self.inputs, self.inputs),
            of_output,
            Matrix::new(&weight, self.outputs, self.inputs, self.inputs),
        );
        multiply(
            MatrixMut::new(&mut for_weight, self.outputs, self.inputs, self.inputs),
            of_output.transposed(),
            Matrix::new(&x, self.rows, self.inputs, self.inputs),
        );
        // A sum is no product: its terms are rounded only where the whole gradient is of that type.
        let terms = if self.precision == Precision::Bf16 { &rounded } else { gradient };
        let mut for_bias = vec![0.0; self.outputs];
        for gradient in terms.chunks_exact(self.outputs) {
            add(&mut for_bias, gradient);
        }
        let mut found = [for_x, for_weight, for_bias];
        found.iter_mut().for_each(|values| self.precision.round_result(values));
        found
    }
}

impl Kernel<2> for Linear {
    fn shape(&self) -> Vec<usize> {
        vec![self.rows, self.outputs]
    }

    fn forward(&self, [x, weight]: [&[f32]; 2], _keep: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        (self.forward(x, weight, None), Vec::new())
    }

    fn backward(&self, [x, weight]: [&[f32]; 2], _kept: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 2] {
        let [for_x, for_weight, _] = self.backward(x, weight, gradient);
        [for_x, for_weight]
    }
}

impl Kernel<3> for Linear {
    fn shape(&self) -> Vec<usize> {
        vec![self.rows, self.outputs]
    }

    fn forward(&self, [x, weight, bias]: [&[f32]; 3], _keep: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        (self.forward(x, weight, Some(bias)), Vec::new())
    }

    fn backward(&self, [x, weight, _]: [&[f32]; 3], _kept: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 3] {
        self.backward(x, weight, gradient)
    }
}

fn add(into: &mut [f32], from: &[f32]) {
    for (into, from) in into.iter_mut().zip(from) {
        *into += from;
    }
}

#[cfg(test)]
mod tests;
