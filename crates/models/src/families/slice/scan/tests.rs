//! Both forms, as kernels and decomposed, against the plain recurrence in f64, gradients too; and what explodes.

use burn::tensor::TensorData;
use proptest::prelude::*;

use super::*;
use crate::parameters::{Init, InitRng};
use crate::testing::{assert_close, both_implementations, random, values};

/// Games of one batch and what drives them.
struct Case {
    tokens: Tokens,
    width: usize,
    block: usize,
    init: Vec<f32>,
    transitions: Vec<f32>,
    inputs: Vec<f32>,
}

impl Case {
    /// Transitions I + A with A = `mean` on the diagonal plus rng.
    fn random(lengths: &[usize], width: usize, block: usize, mean: f32, deviation: f64, seed: u64) -> Case {
        let games: Vec<Vec<u16>> = lengths.iter().map(|&length| vec![1; length]).collect();
        let tokens = Tokens::padded(games.iter().map(Vec::as_slice), 0);
        let mut draw = InitRng::seeded(seed);
        let mut normal = |len: usize, deviation: f64| {
            let mut values = vec![0.0; len];
            Init::Normal(deviation).fill(&mut values, &mut draw);
            values
        };
        let mut transitions = normal(tokens.rows() * width * block, deviation);
        for block in transitions.chunks_exact_mut(block * block).map(|a| a.iter_mut().step_by(block + 1)) {
            block.for_each(|diagonal| *diagonal += mean);
        }
        let (init, inputs) = (normal(width, 1.0), normal(tokens.rows() * width, 0.3));
        Case { tokens, width, block, init, transitions, inputs }
    }

    fn shape(&self) -> Shape {
        Shape::new(&self.tokens, self.width, self.block)
    }

    fn operands(&self) -> (Tensor<1>, Tensor<2>, Tensor<2>) {
        let (rows, device) = (self.tokens.rows(), crate::device::cpu());
        let two = |values: &[f32], columns: usize| {
            Tensor::<2>::from_data(TensorData::new(values.to_vec(), [rows, columns]), &device)
        };
        (
            Tensor::from_floats(self.init.as_slice(), &device),
            two(&self.transitions, self.width * self.block),
            two(&self.inputs, self.width),
        )
    }

    /// The states of the kernel and of the decomposed implementation.
    fn states(&self, algorithm: ScanAlgorithm) -> [Vec<f32>; 2] {
        let (init, transitions, inputs) = self.operands();
        let states = || scan(init.clone(), transitions.clone(), inputs.clone(), self.shape(), algorithm);
        both_implementations(states).map(|states| values(&states))
    }

    /// States in f64, zero at padded steps, with each operand moved by `step` along a direction.
    fn exact(&self, step: f64, [init, transitions, inputs]: [&[f64]; 3]) -> Vec<f64> {
        let moved = |of: &[f32], along: &[f64]| -> Vec<f64> {
            of.iter().zip(along).map(|(&value, along)| f64::from(value) + step * along).collect()
        };
        let init = moved(&self.init, init);
        let (transitions, inputs) = (moved(&self.transitions, transitions), moved(&self.inputs, inputs));
        let mut states = vec![0.0; self.tokens.rows() * self.width];
        for (row, steps) in self.shape().games() {
            let mut state = init.clone();
            for t in row..row + steps {
                let linear = self.width * self.block;
                let a = &transitions[t * linear..(t + 1) * linear];
                advance(self.block, a, &inputs[t * self.width..(t + 1) * self.width], &mut state);
                states[t * self.width..(t + 1) * self.width].copy_from_slice(&state);
            }
        }
        states
    }

    fn still(&self) -> [Vec<f64>; 3] {
        [&self.init, &self.transitions, &self.inputs].map(|values| vec![0.0; values.len()])
    }

    fn truth(&self) -> Vec<f64> {
        let still = self.still();
        self.exact(0.0, still.each_ref().map(Vec::as_slice))
    }

    /// Asserts both forms, within `tolerance` of the largest state.
    fn check_states(&self, tolerance: f64) {
        let truth = self.truth();
        let largest = truth.iter().fold(1.0f64, |largest, state| largest.max(state.abs()));
        for algorithm in [ScanAlgorithm::Chunked, ScanAlgorithm::Sequential] {
            for (i, (found, exact)) in
                self.states(algorithm).iter().flat_map(|states| states.iter().zip(&truth)).enumerate()
            {
                let error = (f64::from(*found) - exact).abs();
                assert!(
                    error <= tolerance * largest,
                    "{algorithm:?}: state {i} is {found}, not {exact} (up to {largest})"
                );
            }
        }
    }

    /// Asserts the gradients of a random sum of the states, along random directions of each operand.
    fn check_gradients(&self, tolerance: f64) {
        let (init, transitions, inputs) = self.operands();
        let operands =
            (init.autodiff().require_grad(), transitions.autodiff().require_grad(), inputs.autodiff().require_grad());
        let pull = random::<2>([self.tokens.rows(), self.width], 77, 1.0);
        let weights: Vec<f64> = values(&pull).into_iter().map(f64::from).collect();
        let (init, transitions, inputs) = operands;
        let with_algorithm = |algorithm: ScanAlgorithm| {
            both_implementations(|| scan(init.clone(), transitions.clone(), inputs.clone(), self.shape(), algorithm))
                .map(|states| {
                    let gradients = (states * pull.clone()).sum().backward();
                    [
                        values(&init.grad(&gradients).unwrap()),
                        values(&transitions.grad(&gradients).unwrap()),
                        values(&inputs.grad(&gradients).unwrap()),
                    ]
                })
        };
        let forms = [with_algorithm(ScanAlgorithm::Chunked), with_algorithm(ScanAlgorithm::Sequential)].concat();
        let mut draw = InitRng::seeded(5);
        for which in 0..3 {
            for _ in 0..4 {
                let mut along = self.still();
                along[which].iter_mut().for_each(|value| *value = draw.normal());
                let directions = along.each_ref().map(Vec::as_slice);
                let at = |step: f64| -> f64 {
                    self.exact(step, directions).iter().zip(&weights).map(|(state, weight)| state * weight).sum()
                };
                // Richardson's extrapolation: the error goes with the fourth power of the step.
                let central = |step: f64| (at(step) - at(-step)) / (2.0 * step);
                let exact = (4.0 * central(5e-6) - central(1e-5)) / 3.0;
                for (algorithm, found) in forms.iter().map(|found| &found[which]).enumerate() {
                    // Its terms are of order 1, and may cancel.
                    let length = found.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt().max(1.0);
                    let grad: f64 = found.iter().zip(&along[which]).map(|(&g, d)| f64::from(g) * d).sum();
                    let error = (grad - exact).abs();
                    assert!(error <= tolerance * length, "{algorithm}, operand {which}: {grad} for {exact} ({length})");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn both_forms_and_their_gradients_equal_the_plain_recurrence(
        lengths in prop::collection::vec(1usize..40, 1..4),
        block in prop::sample::select(vec![1usize, 2, 3, 8]),
        blocks in 1usize..4,
        seed in 0u64..1000,
    ) {
        let case = Case::random(&lengths, block * blocks, block, -0.1, 0.2, seed);
        case.check_states(1e-5);
        case.check_gradients(3e-5);
    }
}

#[test]
fn long_games_stay_equal_across_the_edges_of_chunks() {
    for steps in [63, 64, 65, 255, 256, 257, 513, 640] {
        for (block, mean, deviation) in [(8, -0.2, 0.15), (8, 0.0, 0.03), (1, -0.1, 0.4), (1, 0.0, 0.05)] {
            let case = Case::random(&[steps, 5], 16, block, mean, deviation, steps as u64);
            case.check_states(3e-5);
            case.check_gradients(1e-4);
        }
    }
}

/// The same, decomposed into Burn's operations: a loop over the steps.
fn reference(init: Tensor<1>, transitions: Tensor<2>, inputs: Tensor<2>, case: &Case) -> Tensor<2> {
    let (batch, time, blocks) = (case.tokens.batch(), case.tokens.time(), case.width / case.block);
    let mut state = init.reshape([1, blocks, case.block, 1]).expand([batch, blocks, case.block, 1]);
    let transitions = transitions.reshape([batch, time, blocks, case.block * case.block]);
    let inputs = inputs.reshape([batch, time, blocks, case.block]);
    let mut states = Vec::new();
    for t in 0..time {
        let a = transitions.clone().slice([0..batch, t..t + 1]).reshape([batch, blocks, case.block, case.block]);
        let c = inputs.clone().slice([0..batch, t..t + 1]).reshape([batch, blocks, case.block, 1]);
        state = state.clone() + a.matmul(state) + c;
        states.push(state.clone().reshape([batch, 1, case.width]));
    }
    Tensor::cat(states, 1).reshape([batch * time, case.width])
}

#[test]
fn all_forms_equal_the_reference_and_so_do_their_gradients() {
    for block in [1, 4, 8] {
        let case = Case::random(&[9, 9, 9], 8, block, 0.0, 0.3, 3);
        let (init, transitions, inputs) = case.operands();
        let (init, transitions, inputs) =
            (init.autodiff().require_grad(), transitions.autodiff().require_grad(), inputs.autodiff().require_grad());
        let pull = random::<2>([27, 8], 4, 1.0);
        let truth = reference(init.clone(), transitions.clone(), inputs.clone(), &case);
        let expected = (truth.clone() * pull.clone()).sum().backward();
        let states = |algorithm| scan(init.clone(), transitions.clone(), inputs.clone(), case.shape(), algorithm);
        let forms = [
            both_implementations(|| states(ScanAlgorithm::Chunked)),
            both_implementations(|| states(ScanAlgorithm::Sequential)),
        ]
        .concat();
        for algorithm in forms {
            assert_close(&values(&algorithm), &values(&truth), 1e-5);
            let found = (algorithm * pull.clone()).sum().backward();
            assert_close(&values(&init.grad(&found).unwrap()), &values(&init.grad(&expected).unwrap()), 1e-5);
            let of = |x: &Tensor<2>, gradients| values(&x.grad(gradients).unwrap());
            assert_close(&of(&transitions, &found), &of(&transitions, &expected), 1e-5);
            assert_close(&of(&inputs, &found), &of(&inputs, &expected), 1e-5);
        }
    }
}

/// One game on the diagonal with the same transition and input in all steps but the first.
fn planted(steps: usize, first: (f32, f32), rest: (f32, f32)) -> Case {
    let of = |which: fn((f32, f32)) -> f32| (0..steps).map(|t| which(if t == 0 { first } else { rest })).collect();
    Case {
        tokens: Tokens::padded([vec![1u16; steps].as_slice()], 0),
        width: 1,
        block: 1,
        init: vec![0.1],
        transitions: of(|(m, _)| m - 1.0),
        inputs: of(|(_, c)| c),
    }
}

#[test]
fn states_that_explode_are_reproduced_not_repaired() {
    let case = planted(600, (3.0, 0.5), (3.0, 0.5));
    let truth = case.truth();
    assert!(truth.iter().all(|state| state.is_finite()), "f64 reaches that far");
    for algorithm in [ScanAlgorithm::Chunked, ScanAlgorithm::Sequential] {
        for states in case.states(algorithm) {
            for (t, (found, exact)) in states.iter().zip(&truth).enumerate() {
                // The product of the transitions overflows a step before the state, and the authors' scan needs it.
                let largest = if algorithm == ScanAlgorithm::Chunked { 3f64.powi(t as i32 + 1) } else { *exact };
                if largest <= f64::from(f32::MAX) {
                    assert!(
                        (f64::from(*found) / exact - 1.0).abs() < 1e-4,
                        "{algorithm:?}: step {t}: {found} for {exact}"
                    );
                } else {
                    assert_eq!(*found, f32::INFINITY, "{algorithm:?}: step {t}");
                }
            }
        }
    }
    // In PyTorch the first infinite step is the same.
    for states in case.states(ScanAlgorithm::Chunked) {
        assert_eq!(states.iter().position(|state| state.is_infinite()), Some(80));
    }
}

/// A transition of 0 forgets the state, so that it stays 0; but products of the later ones overflow, and 0 times infinity
/// is NaN. PyTorch's scan gives NaN at the same steps.
#[test]
fn the_chunked_form_loses_finite_states_where_the_authors_does() {
    let case = planted(300, (0.0, 0.0), (3.0, 0.0));
    assert!(case.states(ScanAlgorithm::Sequential).concat().iter().all(|&state| state == 0.0));
    for states in case.states(ScanAlgorithm::Chunked) {
        let lost = (0..states.len()).filter(|&t| states[t].is_nan());
        assert!(lost.eq(255..300), "{states:?}");
    }
}

/// Values behind a game's end could overflow if they were stepped through, and give NaN where they are multiplied by 0.
#[test]
fn whatever_is_padded_changes_no_state_and_no_gradient() {
    let plain = Case::random(&[300, 5], 8, 4, -0.1, 0.2, 11);
    let mut padded = Case::random(&[300, 5], 8, 4, -0.1, 0.2, 11);
    padded.transitions[305 * 32..].fill(50.0);
    padded.inputs[305 * 8..310 * 8].fill(f32::NAN);
    padded.inputs[310 * 8..].fill(f32::INFINITY);
    for algorithm in [ScanAlgorithm::Chunked, ScanAlgorithm::Sequential] {
        let of = |case: &Case| {
            let (init, transitions, inputs) = case.operands();
            let leaves = (
                init.autodiff().require_grad(),
                transitions.autodiff().require_grad(),
                inputs.autodiff().require_grad(),
            );
            both_implementations(|| scan(leaves.0.clone(), leaves.1.clone(), leaves.2.clone(), case.shape(), algorithm))
                .map(|states| {
                    let gradients = states.clone().sum().backward();
                    let found = [leaves.1.grad(&gradients).unwrap(), leaves.2.grad(&gradients).unwrap()];
                    [values(&states), values(&leaves.0.grad(&gradients).unwrap()), values(&found[0]), values(&found[1])]
                })
        };
        assert_eq!(of(&padded), of(&plain), "{algorithm:?}");
        assert!(of(&padded).concat().concat().iter().all(|value| value.is_finite()));
    }
}

#[cfg(feature = "gpu")]
#[test]
fn a_gpu_agrees_with_the_processor() {
    let usual = [70, 5, 0, 33];
    let cases = [(1, 70, usual), (2, 70, usual), (3, 27, usual), (8, 24, usual), (16, 32, usual), (1, 3, [0; 4])];
    let cases = cases.into_iter().chain([(8, 16, [259, 257, 3, 1]), (1, 5, [1, 255, 256, 520])]);
    for (block, width, lengths) in cases {
        // Whatever is padded is looked at by none.
        let mut case = Case::random(&lengths, width, block, -0.1, 0.15, 7);
        for (game, steps) in lengths.into_iter().enumerate() {
            let (from, to) = (game * case.tokens.time() + steps, (game + 1) * case.tokens.time());
            case.transitions[from * width * block..to * width * block].fill(f32::NAN);
            case.inputs[from * width..to * width].fill(f32::INFINITY);
        }
        for algorithm in [ScanAlgorithm::Chunked, ScanAlgorithm::Sequential] {
            let (init, transitions, inputs) = case.operands();
            let sizes = [transitions.dims(), inputs.dims()];
            let operands = [init, transitions.flatten(0, 1), inputs.flatten(0, 1)];
            crate::testing::assert_gpu_agrees(operands, 1e-5, |[init, a, c]| {
                scan(init, a.reshape(sizes[0]), c.reshape(sizes[1]), case.shape(), algorithm).flatten(0, 1)
            });
        }
    }
}

#[cfg(feature = "gpu")]
#[test]
fn on_a_gpu_states_explode_at_the_same_steps() {
    let Some(gpu) = crate::testing::gpu() else { return };
    for case in [planted(600, (3.0, 0.5), (3.0, 0.5)), planted(300, (0.0, 0.0), (3.0, 0.0))] {
        for algorithm in [ScanAlgorithm::Chunked, ScanAlgorithm::Sequential] {
            let (init, transitions, inputs) = case.operands();
            let init = Tensor::from_data(init.into_data(), &gpu);
            let [transitions, inputs] = [transitions, inputs].map(|x| Tensor::<2>::from_data(x.into_data(), &gpu));
            let found = values(&scan(init, transitions, inputs, case.shape(), algorithm));
            for (t, (found, expected)) in found.iter().zip(&case.states(algorithm)[0]).enumerate() {
                let both_nan = found.is_nan() && expected.is_nan();
                let is_near = (found - expected).abs() <= 1e-4 * expected.abs();
                assert!(both_nan || found == expected || is_near, "{algorithm:?}: step {t}: {found} for {expected}");
            }
        }
    }
}
