//! The kernels against those of the CPU; the plain rule in f64 is in the tests of this module's parent.

use super::super::tests::Case;
use super::super::{CHUNK, delta_rule};
use crate::device::cpu;
use crate::testing::{assert_gpu_agrees, gpu, values};

#[test]
fn a_gpu_agrees_with_the_processor() {
    // Chunks of 16 and their edges, tiles of 32 columns and of 16, more and fewer columns than keys.
    for (lengths, sizes) in [
        (&[9, 1, 17, 16][..], [2, 6, 10, CHUNK]),
        (&[70, 33, 48, 5][..], [1, 16, 40, CHUNK]),
        (&[40, 15][..], [2, 48, 96, CHUNK]),
        (&[20][..], [1, 64, 7, CHUNK]),
        (&[][..], [2, 6, 10, CHUNK]),
    ] {
        let case = Case::random(lengths, sizes, 0.3, 2.0, 11);
        let inputs = case.operands(&cpu()).map(|operand| operand.flatten::<1>(0, 1));
        let (rows, [heads, key, value, _]) = (case.tokens.rows(), sizes);
        assert_gpu_agrees(inputs, 2e-6, |[q, k, v, gates]| {
            let (q, k) = (q.reshape([rows, heads * key]), k.reshape([rows, heads * key]));
            let (v, gates) = (v.reshape([rows, heads * value]), gates.reshape([rows, 2 * heads]));
            delta_rule(q, k, v, gates, case.shape.clone()).flatten(0, 1)
        });
    }
}

#[test]
fn what_is_padded_does_not_count_on_a_gpu() {
    let Some(device) = gpu() else { return };
    let mut case = Case::random(&[3, 20], [2, 6, 10, CHUNK], 0.3, 2.0, 12);
    for input in &mut case.inputs {
        let width = input.len() / case.tokens.rows();
        input[3 * width..20 * width].fill(f32::NAN);
    }
    let operands = case.operands(&device).map(|operand| operand.autodiff().require_grad());
    let answers = case.answers(operands.clone()).remove(0);
    let gradients = answers.clone().sum().backward();
    let grads = operands.map(|operand| operand.grad(&gradients).unwrap());
    for array in grads.iter().chain([&answers.inner()]) {
        let width = array.dims()[1];
        let values = values(array);
        assert!(values[3 * width..20 * width].iter().all(|&value| value == 0.0));
        assert!(values.iter().all(|value| value.is_finite()));
    }
}
