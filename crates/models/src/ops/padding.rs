//! Padded steps in decomposed operations: left out by selection, never by multiplying with zero, which NaN outlives.

use burn::tensor::{Bool, Device, Tensor, TensorData};

/// Returns the mask of padding rows of games of these lengths, each `time` rows: [rows, 1]; `None` if there are none.
fn padding(time: usize, lengths: &[usize], device: &Device) -> Option<Tensor<2, Bool>> {
    if lengths.iter().all(|&length| length >= time) {
        return None;
    }
    let of_game = |&length: &usize| (0..time).map(move |t| t >= length);
    let mask: Vec<bool> = lengths.iter().flat_map(of_game).collect();
    let shape = [mask.len(), 1];
    Some(Tensor::from_data(TensorData::new(mask, shape), device))
}

/// `x` [rows, width] with zeros at padded steps, whose gradient is zero too.
pub(crate) fn without_padding(x: Tensor<2>, time: usize, lengths: &[usize]) -> Tensor<2> {
    match padding(time, lengths, &x.device()) {
        Some(mask) => {
            let shape = x.dims();
            x.mask_fill(mask.expand(shape), 0.0)
        }
        None => x,
    }
}

/// A mask of pairs (row, column) of a square.
pub(crate) fn pairs(size: usize, wanted: impl Fn(usize, usize) -> bool, device: &Device) -> Tensor<2, Bool> {
    let mask: Vec<bool> = (0..size * size).map(|at| wanted(at / size, at % size)).collect();
    Tensor::from_data(TensorData::new(mask, [size, size]), device)
}

/// `x` with `value` at the masked pairs of its last two axes.
pub(crate) fn fill_pairs<const D: usize>(x: Tensor<D>, mask: Tensor<2, Bool>, value: f64) -> Tensor<D> {
    let shape = x.dims();
    x.mask_fill(mask.unsqueeze::<D>().expand(shape), value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::values;

    #[test]
    fn padded_rows_are_zero_and_so_is_their_gradient_whatever_they_held() {
        let rows = [1.0, 2.0, f32::NAN, 4.0, f32::INFINITY, 6.0];
        let x = Tensor::<1>::from_floats(rows, &crate::device::cpu()).reshape([6, 1]).autodiff().require_grad();
        let y = without_padding(x.clone(), 3, &[2, 1]);
        assert_eq!(values(&y), [1.0, 2.0, 0.0, 4.0, 0.0, 0.0]);
        assert_eq!(values(&x.grad(&y.sum().backward()).unwrap()), [1.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
    }
}
