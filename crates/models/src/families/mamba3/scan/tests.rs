//! Both forms of the operation against the formulas, and against finite differences.

use burn::tensor::{Bool, TensorData, activation};

use super::*;
use crate::families::mamba3::rotation::Pairing;
use crate::layers::mamba::MixerSize;
use crate::testing::{assert_close, assert_finite_differences, both_implementations, random, values};

fn widths(ranks: usize, pairing: Pairing) -> Widths {
    Widths { size: MixerSize { width: 5, inner: 10, heads: 2, head_width: 5, state: 8 }, ranks, pairing }
}

fn batch() -> Tokens {
    Tokens::padded([[1u16; 9].as_slice(), &[1; 5], &[1; 1]], 0)
}

/// One at real steps, zero at others.
fn valid(tokens: &Tokens) -> Tensor<2> {
    let valid: Vec<f32> = tokens.is_valid().map(|valid| f32::from(u8::from(valid))).collect();
    Tensor::from_data(TensorData::new(valid, [tokens.rows(), 1]), &crate::device::cpu())
}

type Operands = ([Tensor<2>; 4], [Tensor<1>; 2], [Tensor<3>; 3]);

fn operands(widths: &Widths, tokens: &Tokens) -> Operands {
    let (rows, size) = (tokens.rows(), widths.size);
    let keys = |seed| random::<2>([rows, widths.keys()], seed, 0.5);
    let inputs =
        [keys(1), keys(2), random::<2>([rows, size.inner], 3, 1.0), random::<2>([rows, widths.rates()], 4, 1.0)];
    let bias = |seed| random::<3>([size.heads, widths.ranks, size.state], seed, 0.5);
    let scales = random::<3>([size.heads, widths.ranks, size.head_width], 9, 1.0);
    (inputs, [5, 6].map(|seed| random::<1>([size.heads], seed, 0.5)), [bias(7), bias(8), scales])
}

fn run((inputs, vectors, blocks): Operands, widths: Widths, tokens: &Tokens) -> Tensor<2> {
    let [keys, queries, x, rates] = inputs;
    let ([dt_bias, skip], [key_bias, query_bias, mimo_x]) = (vectors, blocks);
    let parameters = Parameters { dt_bias, key_bias, query_bias, mimo_x, skip };
    scan(Inputs { keys, queries, x, rates }, parameters, widths, tokens)
}

/// All steps weighed against all before them, without a state. Padded steps hold what they hold, and step past a game's
/// end as if it went on; what is before the end does not see it.
fn reference((inputs, vectors, blocks): Operands, widths: Widths, tokens: &Tokens) -> Tensor<2> {
    let [keys, queries, x, rates] = inputs;
    let ([dt_bias, skip], [key_bias, query_bias, mimo_x]) = (vectors, blocks);
    let Widths { size, ranks, pairing } = widths;
    let MixerSize { heads, head_width, state, .. } = size;
    let (batch, time, angles) = (tokens.batch(), tokens.time(), widths.angles());
    let column = |from: usize, to: usize| rates.clone().slice([0..batch * time, from..to]);
    // [batch, heads, time, 1]
    let by_head = |x: Tensor<2>| x.reshape([batch, time, heads, 1]).swap_dims(1, 2);
    let sizes = by_head(activation::softplus(column(0, heads) + dt_bias.unsqueeze::<2>(), 1.0));
    let amounts = by_head(activation::softplus(column(heads, 2 * heads), 1.0).neg().clamp_max(-1e-4));
    let shares = by_head(activation::sigmoid(column(2 * heads, 3 * heads)));
    let speeds =
        (column(3 * heads, 3 * heads + angles).tanh() * std::f32::consts::PI).reshape([batch, 1, time, angles]);
    let phases = (speeds * sizes.clone()).cumsum(2).reshape([batch, heads, time, 1, angles]);
    let (cosines, sines) = (phases.clone().cos(), phases.sin());

    let own = shares.clone() * sizes.clone();
    let added = (shares.neg() + 1.0) * sizes.clone();
    let none = Tensor::zeros([batch, heads, 1, 1], &added.device());
    let later = own.clone() + Tensor::cat(vec![added.slice([0..batch, 0..heads, 1..time, 0..1]), none], 2);
    let sums = (sizes * amounts).cumsum(2);
    let mask = |wanted: fn(usize, usize) -> bool| {
        let mask: Vec<bool> = (0..time * time).map(|at| wanted(at / time, at % time)).collect();
        let mask = Tensor::<4, Bool>::from_data(TensorData::new(mask, [1, 1, time, time]), &sums.device());
        mask.expand([batch, heads, time, time])
    };
    let differences = (sums.clone() - sums.clone().swap_dims(2, 3)).mask_fill(mask(|i, j| j >= i), f32::NEG_INFINITY);
    let weights = differences.exp() * later.swap_dims(2, 3)
        + own.swap_dims(2, 3).expand([batch, heads, time, time]).mask_fill(mask(|i, j| i != j), 0.0);

    let turned = |rows: Tensor<2>, bias: Tensor<3>| {
        let rows = rows.reshape([batch, 1, time, ranks, state]) + bias.reshape([1, heads, 1, ranks, state]);
        let part = |from: usize, to: usize| rows.clone().slice([0..batch, 0..heads, 0..time, 0..ranks, from..to]);
        match pairing {
            Pairing::Halves => {
                let half = state / 2;
                let (a, b) = (part(0, angles), part(half, half + angles));
                let (x, y) =
                    (a.clone() * cosines.clone() - b.clone() * sines.clone(), a * sines.clone() + b * cosines.clone());
                Tensor::cat(vec![x, part(angles, half), y, part(half + angles, state)], 4)
            }
            Pairing::Neighbours => {
                let pairs = part(0, 2 * angles).reshape([batch, heads, time, ranks * angles, 2]);
                let of = |which: usize| {
                    let one = pairs.clone().slice([0..batch, 0..heads, 0..time, 0..ranks * angles, which..which + 1]);
                    one.reshape([batch, heads, time, ranks, angles])
                };
                let x = of(0) * cosines.clone() - of(1) * sines.clone();
                let y = of(0) * sines.clone() + of(1) * cosines.clone();
                let shape = [batch, heads, time, ranks * angles, 1];
                let pairs = Tensor::cat(vec![x.reshape(shape), y.reshape(shape)], 4);
                let pairs = pairs.reshape([batch, heads, time, ranks, 2 * angles]);
                Tensor::cat(vec![pairs, part(2 * angles, state)], 4)
            }
        }
        .reshape([batch, heads, time * ranks, state])
    };
    let (k, q) = (turned(keys, key_bias), turned(queries, query_bias));
    let x = x.reshape([batch, time, heads, 1, head_width]);
    let v = (x * mimo_x.reshape([1, 1, heads, ranks, head_width])).swap_dims(1, 2);
    let v = v.reshape([batch, heads, time * ranks, head_width]);
    let weights = weights.reshape([batch * heads, time, 1, time, 1]).expand([batch * heads, time, ranks, time, ranks]);
    let weights = weights.reshape([batch, heads, time * ranks, time * ranks]);
    let y = (q.matmul(k.swap_dims(2, 3)) * weights).matmul(v.clone()) + v * skip.reshape([1, heads, 1, 1]);
    let y = y.reshape([batch, heads, time, ranks * head_width]).swap_dims(1, 2);
    y.reshape([batch * time, heads * ranks * head_width])
}

#[test]
fn both_forms_equal_the_reference_and_so_do_their_gradients() {
    let tokens = batch();
    for (ranks, pairing) in [(1, Pairing::Neighbours), (3, Pairing::Halves), (2, Pairing::Neighbours)] {
        let widths = widths(ranks, pairing);
        let (inputs, vectors, blocks) = operands(&widths, &tokens);
        let inputs = inputs.map(|tensor| tensor.autodiff().require_grad());
        let vectors = vectors.map(|tensor| tensor.autodiff().require_grad());
        let blocks = blocks.map(|tensor| tensor.autodiff().require_grad());
        let operands = (inputs.clone(), vectors.clone(), blocks.clone());
        let truth = reference(operands.clone(), widths, &tokens);
        let pull = random::<2>(truth.dims(), 10, 1.0) * valid(&tokens);
        let expected = (truth.clone() * pull.clone()).sum().backward();
        for form in both_implementations(|| run(operands.clone(), widths, &tokens)) {
            assert_close(&values(&form), &values(&(truth.clone() * valid(&tokens))), 1e-5);
            let found = (form * pull.clone()).sum().backward();
            for tensor in &inputs {
                assert_close(&values(&tensor.grad(&found).unwrap()), &values(&tensor.grad(&expected).unwrap()), 3e-5);
            }
            for tensor in &vectors {
                assert_close(&values(&tensor.grad(&found).unwrap()), &values(&tensor.grad(&expected).unwrap()), 3e-5);
            }
            for tensor in &blocks {
                assert_close(&values(&tensor.grad(&found).unwrap()), &values(&tensor.grad(&expected).unwrap()), 3e-5);
            }
        }
    }
}

#[test]
fn its_gradients_are_slopes() {
    let tokens = Tokens::padded([[1u16; 3].as_slice(), &[1; 2]], 0);
    let widths = widths(2, Pairing::Halves);
    let (inputs, vectors, blocks) = operands(&widths, &tokens);
    let small = inputs.map(|tensor| tensor * 0.5);
    for which in 0..4 {
        assert_finite_differences(small[which].clone(), |tensor| {
            let mut inputs = small.clone();
            inputs[which] = tensor;
            run((inputs, vectors.clone(), blocks.clone()), widths, &tokens)
        });
    }
    for which in 0..2 {
        assert_finite_differences(vectors[which].clone(), |tensor| {
            let mut vectors = vectors.clone();
            vectors[which] = tensor;
            run((small.clone(), vectors, blocks.clone()), widths, &tokens)
        });
    }
    for which in 0..3 {
        assert_finite_differences(blocks[which].clone(), |tensor| {
            let mut blocks = blocks.clone();
            blocks[which] = tensor;
            run((small.clone(), vectors.clone(), blocks), widths, &tokens)
        });
    }
}

#[cfg(feature = "gpu")]
#[test]
fn a_gpu_agrees_with_the_processor() {
    let long = Tokens::padded([[1u16; 37].as_slice(), &[1; 17], &[1; 16], &[]], 0);
    let wide = Widths {
        size: MixerSize { width: 70, inner: 140, heads: 2, head_width: 70, state: 20 },
        ranks: 2,
        pairing: Pairing::Halves,
    };
    // The last has two tiles of columns. The first step's speeds turn all steps alike, so their gradient is zero, and what
    // is found is rounding: 1e-4 on the CPU in the last, 1e-5 on a GPU.
    for (widths, tokens, tolerance) in [
        (widths(1, Pairing::Neighbours), batch(), 1e-5),
        (widths(3, Pairing::Halves), long.clone(), 6e-5),
        (wide, long, 2e-4),
    ] {
        assert_gpu_agrees(widths, &tokens, tolerance);
    }
}

#[cfg(feature = "gpu")]
#[test]
#[ignore = "minutes without a real GPU"]
fn a_gpu_agrees_at_the_usual_sizes() {
    let usual = Widths {
        size: MixerSize { width: 32, inner: 64, heads: 1, head_width: 64, state: 128 },
        ranks: 4,
        pairing: Pairing::Halves,
    };
    assert_gpu_agrees(usual, &Tokens::padded([[1u16; 18].as_slice(), &[1; 3]], 0), 1e-3);
}

#[cfg(feature = "gpu")]
fn assert_gpu_agrees(widths: Widths, tokens: &Tokens, tolerance: f32) {
    let ([keys, queries, x, rates], [dt_bias, skip], blocks) = operands(&widths, tokens);
    let [keys, queries, x, rates] = [keys, queries, x, rates].map(|input| input.flatten(0, 1));
    let [key_bias, query_bias, mimo_x] = blocks.map(|block| block.flatten(0, 2));
    let inputs = [keys, queries, x, rates, dt_bias, skip, key_bias, query_bias, mimo_x];
    let (rows, size) = (tokens.rows(), widths.size);
    crate::testing::assert_gpu_agrees(inputs, tolerance, |inputs| {
        let [keys, queries, x, rates, dt_bias, skip, key_bias, query_bias, mimo_x] = inputs;
        let inputs = [(keys, widths.keys()), (queries, widths.keys()), (x, size.inner), (rates, widths.rates())]
            .map(|(input, width)| input.reshape([rows, width]));
        let blocks = [(key_bias, size.state), (query_bias, size.state), (mimo_x, size.head_width)]
            .map(|(block, width)| block.reshape([size.heads, widths.ranks, width]));
        run((inputs, [dt_bias, skip], blocks), widths, tokens).flatten(0, 1)
    });
}
