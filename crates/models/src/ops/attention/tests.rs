//! Both forms against the formulas, and against finite differences.

use burn::tensor::{Bool, TensorData, activation::softmax};

use super::*;
use crate::counter_rng::CounterRng;
use crate::ops::attention::rotation::Layout;
use crate::testing::{assert_close, assert_finite_differences, both_implementations, random, values};

const HEADS: usize = 2;
const D: usize = 6;

fn batch() -> Tokens {
    Tokens::padded([[1u16; 9].as_slice(), &[1; 5], &[1; 1]], 0)
}

/// The same, decomposed into Burn's operations; padded steps hold what they hold.
fn reference(qkv: Tensor<2>, tokens: &Tokens, layout: Layout, mask: Mask, dropout: Option<Dropout>) -> Tensor<2> {
    let (batch, time, width) = (tokens.batch(), tokens.time(), HEADS * D);
    let device = qkv.device();
    let part = |which: usize| {
        let part = qkv.clone().slice([0..batch * time, which * width..(which + 1) * width]);
        part.reshape([batch, time, HEADS, D]).swap_dims(1, 2)
    };
    // Turning is linear, so a matrix for each position does it.
    let rotation = Rotation::new(layout, time, D);
    let mut turns = Vec::new();
    for t in 0..time {
        for unit in 0..D {
            let (mut x, mut y) = ([0.0; D], [0.0; D]);
            x[unit] = 1.0;
            rotation.rotate(t, &x, &mut y);
            turns.extend(y);
        }
    }
    let turns = Tensor::<4>::from_data(TensorData::new(turns, [1, time, D, D]), &device);
    let turn = |x: Tensor<4>| {
        let x = x.reshape([batch * HEADS, time, 1, D]);
        x.matmul(turns.clone()).reshape([batch, HEADS, time, D])
    };
    let scores = turn(part(0)).matmul(turn(part(1)).swap_dims(2, 3)) / (D as f32).sqrt();
    let is_unseen = |(length, i, j): (usize, usize, usize)| match mask {
        Mask::Causal => j > i,
        Mask::None => j >= length,
    };
    let pairs = |&length: &usize| (0..time * time).map(move |pair| (length, pair / time, pair % time));
    let unseen: Vec<bool> = tokens.lengths().iter().flat_map(pairs).map(is_unseen).collect();
    let unseen = Tensor::<4, Bool>::from_data(TensorData::new(unseen, [batch, 1, time, time]), &device);
    let mut p = softmax(scores.mask_fill(unseen.expand([batch, HEADS, time, time]), f32::NEG_INFINITY), 3);
    if let Some(dropout) = dropout {
        p = crate::ops::dropout(p, dropout);
    }
    p.matmul(part(2)).swap_dims(1, 2).reshape([batch * time, width])
}

/// Zero at padded rows.
fn valid(tokens: &Tokens) -> Tensor<2> {
    let valid: Vec<f32> = tokens.is_valid().map(|valid| f32::from(u8::from(valid))).collect();
    Tensor::from_data(TensorData::new(valid, [tokens.rows(), 1]), &crate::device::cpu())
}

#[test]
fn both_forms_equal_the_reference_and_so_do_their_gradients() {
    let tokens = batch();
    let rng = Dropout { key: CounterRng::new(1, 1, 1).next_key(), p: 0.3 };
    for (layout, mask, dropout) in [
        (Layout::Upstream, Mask::Causal, None),
        (Layout::Standard, Mask::Causal, None),
        (Layout::Upstream, Mask::Causal, Some(rng)),
        (Layout::None, Mask::Causal, None),
        (Layout::None, Mask::None, None),
        (Layout::Standard, Mask::None, Some(rng)),
    ] {
        let x = random::<2>([tokens.rows(), 3 * HEADS * D], 1, 1.0).autodiff().require_grad();
        let pull = random::<2>([tokens.rows(), HEADS * D], 2, 1.0) * valid(&tokens);
        let rotation = Rotation::new(layout, tokens.time(), D);
        let truth = reference(x.clone(), &tokens, layout, mask, dropout);
        let expected = x.grad(&(truth.clone() * pull.clone()).sum().backward()).unwrap();
        let shape = || Shape::new(&tokens, HEADS, D).masked(mask);
        for form in both_implementations(|| attention(x.clone(), shape(), &rotation, dropout, Precision::Fp32)) {
            assert_close(&values(&form), &values(&(truth.clone() * valid(&tokens))), 1e-6);
            let found = x.grad(&(form * pull.clone()).sum().backward()).unwrap();
            assert_close(&values(&found), &values(&expected), 3e-6);
        }
    }
}

#[test]
fn a_precision_rounds_what_is_multiplied_and_only_bf16_what_comes_of_it() {
    let (tokens, rotation) = (batch(), Rotation::new(Layout::Upstream, 9, D));
    let both = |precision: Precision| {
        let x = random::<2>([tokens.rows(), 3 * HEADS * D], 1, 1.0).autodiff().require_grad();
        let pull = random::<2>([tokens.rows(), HEADS * D], 2, 1.0);
        let y = attention(x.clone(), Shape::new(&tokens, HEADS, D), &rotation, None, precision);
        let gradient = x.grad(&(y.clone() * pull).sum().backward()).unwrap();
        [values(&y), values(&gradient)]
    };
    let strict = both(Precision::Fp32);
    for (precision, unit) in [(Precision::Tf32, 2f32.powi(-11)), (Precision::Bf16, 2f32.powi(-8))] {
        for found in both_implementations(|| both(precision)) {
            for (found, strict) in found.iter().zip(&strict) {
                let far = found.iter().zip(strict).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!((0.2 * unit..12.0 * unit).contains(&far), "{precision}: {far}");
            }
            let rounded = found[0].iter().all(|&value| Precision::Bf16.rounded(value) == value);
            assert_eq!(rounded, precision == Precision::Bf16);
        }
    }
}

#[test]
fn its_gradient_is_its_slope() {
    let tokens = batch();
    let rotation = Rotation::new(Layout::Upstream, tokens.time(), D);
    for mask in [Mask::Causal, Mask::None] {
        let x = random::<2>([tokens.rows(), 3 * HEADS * D], 1, 1.0);
        let shape = || Shape::new(&tokens, HEADS, D).masked(mask);
        assert_finite_differences(x, |x| attention(x, shape(), &rotation, None, Precision::Fp32));
    }
}

#[cfg(feature = "gpu")]
mod gpu {
    use super::*;
    use crate::testing::assert_gpu_agrees;

    /// Causal attention of games of these lengths on a GPU and on the CPU. Padded steps hold NaN.
    fn agrees(lengths: &[usize], d: usize, layout: Layout, dropout: Option<Dropout>, precision: Precision) {
        agrees_under(Mask::Causal, lengths, d, layout, dropout, precision);
    }

    /// The same under a mask.
    fn agrees_under(
        mask: Mask,
        lengths: &[usize],
        d: usize,
        layout: Layout,
        dropout: Option<Dropout>,
        precision: Precision,
    ) {
        let games: Vec<Vec<u16>> = lengths.iter().map(|&length| vec![1; length]).collect();
        let tokens = Tokens::padded(games.iter().map(Vec::as_slice), 0);
        let rotation = Rotation::new(layout, tokens.time(), d);
        let width = HEADS * d;
        let padding = tokens.is_valid().flat_map(|valid| vec![if valid { 0.0 } else { f32::NAN }; 3 * width]);
        let padding = Tensor::<1>::from_floats(padding.collect::<Vec<f32>>().as_slice(), &crate::device::cpu());
        let qkv = random::<1>([tokens.rows() * 3 * width], 1, 1.0) + padding;
        // Rounded probabilities differ in the last bit that is left.
        let tolerance = match precision {
            Precision::Fp32 => 2e-6,
            Precision::Tf32 => 2e-3,
            Precision::Bf16 => 2e-2,
        };
        assert_gpu_agrees([qkv], tolerance, |[qkv]| {
            let qkv = qkv.reshape([tokens.rows(), 3 * width]);
            attention(qkv, Shape::new(&tokens, HEADS, d).masked(mask), &rotation, dropout, precision).flatten(0, 1)
        });
    }

    #[test]
    fn a_gpu_agrees_with_the_processor() {
        let dropout = Dropout { key: CounterRng::new(1, 1, 1).next_key(), p: 0.3 };
        // Cubes have 64 rows, tiles 28 or 32.
        agrees(&[70, 33, 1, 64, 65], 8, Layout::Upstream, None, Precision::Fp32);
        agrees(&[3, 70, 29], 16, Layout::Standard, Some(dropout), Precision::Fp32);
        agrees(&[66, 1], 64, Layout::Upstream, Some(dropout), Precision::Fp32);
        // Vectors of one and of two channels, and loops that are not unrolled.
        agrees(&[9, 1, 5], 6, Layout::Standard, None, Precision::Fp32);
        agrees(&[9, 1, 5], 6, Layout::Upstream, None, Precision::Fp32);
        agrees(&[], 6, Layout::Upstream, None, Precision::Fp32);
        agrees(&[19, 1], 72, Layout::Standard, Some(dropout), Precision::Fp32);
        // Nothing turns; and heads that the kernels do not do.
        agrees(&[3, 70, 29], 16, Layout::None, Some(dropout), Precision::Fp32);
        agrees(&[9, 1, 5], 7, Layout::None, None, Precision::Fp32);
        agrees_under(Mask::None, &[70, 33, 1, 64, 65], 8, Layout::None, Some(dropout), Precision::Fp32);
        agrees_under(Mask::None, &[130, 2], 32, Layout::Upstream, None, Precision::Fp32);
    }

    #[test]
    fn a_gpu_rounds_operands_as_the_processor_does() {
        for precision in [Precision::Tf32, Precision::Bf16] {
            agrees(&[35, 1, 5], 8, Layout::Upstream, None, precision);
        }
    }
}
