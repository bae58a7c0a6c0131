//! The chunked form, as kernel and decomposed, against the recurrence in f64, outputs and gradients.

use burn::tensor::{Tensor, TensorData};
use proptest::prelude::*;

use super::backward::Gradients;
use super::decomposed::Sequences;
use super::steps::{forget, read, write};
use super::*;
use crate::ops::matrix::MatrixMut;
use crate::parameters::{Init, InitRng};
use crate::testing::values;

/// Inputs of a group, and a direction to pull its outputs in.
struct Case {
    shape: Shape,
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    decay: Vec<f32>,
    own: Vec<f32>,
    later: Vec<f32>,
    skip: Vec<f32>,
    pull: Vec<f32>,
}

impl Case {
    /// Random inputs; the log decays are those that `decay` gives for a random number in [0, 1).
    fn new(shape: Shape, seed: u64, decay: impl Fn(f64) -> f64) -> Self {
        let mut draw = InitRng::seeded(seed);
        let mut normal = |len: usize, deviation: f64| {
            let mut values = vec![0.0; len];
            Init::Normal(deviation).fill(&mut values, &mut draw);
            values
        };
        let (rows, rates) = (shape.steps * shape.ranks, shape.steps * shape.heads);
        let scale = (shape.state as f64).powf(-0.5);
        let (q, k) = (normal(rows * shape.state, scale), normal(rows * shape.state, 1.0));
        let (v, pull) = (normal(rows * shape.values(), 1.0), normal(rows * shape.values(), 1.0));
        let (own, later, skip) = (normal(rates, 0.5), normal(rates, 0.5), normal(shape.heads, 1.0));
        let decay = (0..rates).map(|_| decay(draw.uniform(0.0, 1.0)) as f32).collect();
        Case { shape, q, k, v, decay, own, later, skip, pull }
    }

    fn group(&self) -> Group<'_> {
        let Shape { steps, ranks, state, .. } = self.shape;
        let rows = steps * ranks;
        Group {
            shape: self.shape,
            q: Matrix::new(&self.q, rows, state, state),
            k: Matrix::new(&self.k, rows, state, state),
            v: Matrix::new(&self.v, rows, self.shape.values(), self.shape.values()),
            decay: &self.decay,
            own: &self.own,
            later: &self.later,
            skip: &self.skip,
        }
    }

    fn chunked(&self) -> (Vec<f32>, [Vec<f32>; 7]) {
        let (rows, width) = (self.shape.steps * self.shape.ranks, self.shape.values());
        let (mut out, mut saved) = (vec![f32::NAN; rows * width], Vec::new());
        self.group().forward(MatrixMut::new(&mut out, rows, width, width), Some(&mut saved));
        let gradients = self.group().backward(&saved, Matrix::new(&self.pull, rows, width, width));
        let Gradients { q, k, v, decay, own, later, skip } = gradients;
        (out, [q, k, v, decay, own, later, skip])
    }

    fn decomposed(&self) -> (Vec<f32>, [Vec<f32>; 7]) {
        let Shape { steps, ranks, heads, state, width, chunk } = self.shape;
        let (rows, device) = (steps * ranks, crate::device::cpu());
        let leaf = |values: &Vec<f32>| Tensor::<1>::from_floats(values.as_slice(), &device).autodiff().require_grad();
        let leaves = [&self.q, &self.k, &self.v, &self.decay, &self.own, &self.later, &self.skip].map(leaf);
        let [q, k, v, decay, own, later, skip] = leaves.clone();
        let keys = |x: Tensor<1>| x.reshape([1, 1, rows, state]);
        let rates = |x: Tensor<1>| x.reshape([1, steps, heads]).swap_dims(1, 2);
        let v = v.reshape([1, rows, heads, width]).swap_dims(1, 2);
        let all = Sequences {
            q: keys(q),
            k: keys(k),
            v,
            decay: rates(decay),
            own: Some(rates(own)),
            later: rates(later),
            skip,
        };
        let out = all.outputs_in(ranks, chunk).swap_dims(1, 2).reshape([rows, heads * width]);
        let pull = Tensor::<2>::from_data(TensorData::new(self.pull.clone(), [rows, heads * width]), &device);
        let gradients = (out.clone() * pull).sum().backward();
        (values(&out), leaves.map(|leaf| values(&leaf.grad(&gradients).expect("all matter"))))
    }

    /// Outputs and gradients by the recurrence, step by step forwards and backwards.
    fn exact(&self) -> (Vec<f64>, [Vec<f64>; 7]) {
        let Shape { steps, ranks, heads, state, width, .. } = self.shape;
        let wide = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<f64>>();
        let (q, k, v, pull) = (wide(&self.q), wide(&self.k), wide(&self.v), wide(&self.pull));
        let mut out = vec![0.0; v.len()];
        let (mut grad_q, mut grad_k, mut grad_v) = (vec![0.0; q.len()], vec![0.0; k.len()], vec![0.0; v.len()]);
        let mut grad_rates = [0; 3].map(|_| vec![0.0; steps * heads]);
        let mut grad_skip = vec![0.0; heads];
        for head in 0..heads {
            let at = |row: usize| (row * heads + head) * width..(row * heads + head + 1) * width;
            let key = |row: usize| row * state..(row + 1) * state;
            let rate = |values: &[f32], t: usize| f64::from(values[t * heads + head]);
            // What a step writes, unweighed.
            let written = |t: usize| {
                let mut written = vec![0.0; state * width];
                for row in t * ranks..(t + 1) * ranks {
                    write(&mut written, 1.0, &k[key(row)], &v[at(row)]);
                }
                written
            };
            let mut carried = vec![vec![0.0; state * width]];
            let mut seen = Vec::new();
            for t in 0..steps {
                let mut before = carried[t].clone();
                forget(&mut before, rate(&self.decay, t).exp());
                let writes = written(t);
                let with = |weight: f64| before.iter().zip(&writes).map(|(b, w)| b + weight * w).collect::<Vec<f64>>();
                seen.push(with(rate(&self.own, t)));
                carried.push(with(rate(&self.later, t)));
                for row in t * ranks..(t + 1) * ranks {
                    let read = read(&seen[t], &q[key(row)], width);
                    for ((out, read), v) in out[at(row)].iter_mut().zip(read).zip(&v[at(row)]) {
                        *out = read + f64::from(self.skip[head]) * v;
                    }
                }
            }
            let mut grad_carried = vec![0.0; state * width];
            for t in (0..steps).rev() {
                let mut grad_seen = vec![0.0; state * width];
                for row in t * ranks..(t + 1) * ranks {
                    write(&mut grad_seen, 1.0, &q[key(row)], &pull[at(row)]);
                    for (n, grad_q) in grad_q[key(row)].iter_mut().enumerate() {
                        *grad_q += inner(&seen[t][n * width..(n + 1) * width], &pull[at(row)]);
                    }
                    for (grad_v, pull) in grad_v[at(row)].iter_mut().zip(&pull[at(row)]) {
                        *grad_v += f64::from(self.skip[head]) * pull;
                    }
                    grad_skip[head] += inner(&pull[at(row)], &v[at(row)]);
                }
                let (own, later) = (rate(&self.own, t), rate(&self.later, t));
                let writes = written(t);
                grad_rates[1][t * heads + head] = inner(&grad_seen, &writes);
                grad_rates[2][t * heads + head] = inner(&grad_carried, &writes);
                let both = |a: f64, b: f64| {
                    grad_seen.iter().zip(&grad_carried).map(|(s, c)| a * s + b * c).collect::<Vec<f64>>()
                };
                let grad_written = both(own, later);
                for row in t * ranks..(t + 1) * ranks {
                    for (n, grad_k) in grad_k[key(row)].iter_mut().enumerate() {
                        let of = &grad_written[n * width..(n + 1) * width];
                        *grad_k += inner(of, &v[at(row)]);
                        for (grad_v, of) in grad_v[at(row)].iter_mut().zip(of) {
                            *grad_v += k[row * state + n] * of;
                        }
                    }
                }
                let factor = rate(&self.decay, t).exp();
                let mut before = both(factor, factor);
                grad_rates[0][t * heads + head] = inner(&before, &carried[t]);
                std::mem::swap(&mut grad_carried, &mut before);
            }
        }
        let [decay, own, later] = grad_rates;
        (out, [grad_q, grad_k, grad_v, decay, own, later, grad_skip])
    }

    /// Largest difference of outputs and of each kind of gradient, relative to the largest of its kind.
    fn apart(&self) -> f64 {
        let (exact_out, exact) = self.exact();
        let worst = |(out, found): (Vec<f32>, [Vec<f32>; 7])| {
            found.iter().zip(&exact).map(|(found, exact)| apart(found, exact)).fold(apart(&out, &exact_out), f64::max)
        };
        worst(self.chunked()).max(worst(self.decomposed()))
    }
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn apart(found: &[f32], exact: &[f64]) -> f64 {
    assert_eq!(found.len(), exact.len());
    let largest = exact.iter().fold(1.0f64, |largest, value| largest.max(value.abs()));
    let apart = |(found, exact): (&f32, &f64)| {
        let difference = (f64::from(*found) - exact).abs() / largest;
        if difference.is_nan() { f64::INFINITY } else { difference }
    };
    found.iter().zip(exact).map(apart).fold(0.0, f64::max)
}

fn mild(random: f64) -> f64 {
    -0.3 * random * random
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn chunks_equal_steps_for_any_shape(
        (steps, ranks, heads) in (1usize..70, 1usize..5, 1usize..4),
        (state, width, chunk) in (1usize..20, 1usize..20, 1usize..40),
        seed in 0u64..1000,
    ) {
        let case = Case::new(Shape { steps, ranks, heads, state, width, chunk }, seed, mild);
        // Weights of both signs: sums of hundreds of terms of which little is left.
        prop_assert!(case.apart() < 2e-5, "{}", case.apart());
    }
}

#[test]
fn long_sequences_stay_equal_across_the_edges_of_chunks() {
    for (steps, ranks) in
        [63, 64, 65, 127, 128, 129, 255, 256, 257, 513, 640].into_iter().flat_map(|t| [(t, 1), (t, 4)])
    {
        let shape = Shape { steps, ranks, heads: 2, state: 8, width: 4, chunk: Shape::usual_chunk(ranks) };
        // Decays near 1, so that a state holds hundreds of steps.
        let case = Case::new(shape, 3, |random| -0.01 * random);
        assert!(case.apart() < 5e-6, "{steps} steps of {ranks}: {}", case.apart());
    }
}

#[test]
fn steep_decays_lose_nothing_to_the_length_of_a_sum() {
    for steep in [16.0, 40.0] {
        let shape = Shape { steps: 300, ranks: 1, heads: 2, state: 8, width: 4, chunk: 128 };
        // Most steps forget all; some forget nothing, at sums of log decays in the thousands.
        let case = Case::new(shape, 5, |random| if random < 0.3 { -1e-3 * random } else { -steep });
        assert!(case.apart() < 3e-6, "decay {steep}: {}", case.apart());
        let group = case.group();
        let rates = group.rates(&(0..128), 0);
        let (mut decays, mut weights) = (vec![0.0; 128], vec![0.0; 128]);
        for step in 0..128 {
            weights_for(&rates, step, 1, &mut decays, &mut weights);
            for (earlier, &decay) in decays.iter().enumerate().take(step) {
                let log: f64 = (earlier + 1..=step).map(|t| f64::from(case.decay[t * 2])).sum();
                assert!((f64::from(decay) - log.exp()).abs() < 1e-6, "{earlier} to {step}");
            }
        }
        for (_, gradients) in [case.chunked(), case.decomposed()] {
            assert!(gradients.concat().iter().all(|value| value.is_finite()));
        }
    }
}
