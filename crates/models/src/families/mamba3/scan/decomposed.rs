//! The recurrence decomposed into Burn's operations.

use burn::tensor::activation::{sigmoid, softplus};
use burn::tensor::{FloatDType, Tensor};

use super::{Inputs, Parameters};
use crate::Tokens;
use crate::families::mamba3::Widths;
use crate::families::mamba3::rates::LEAST_DECAY;
use crate::families::mamba3::rotation::Pairing;
use crate::layers::mamba::MixerSize;
use crate::ops::padding::without_padding;
use crate::ops::state_space::decomposed::Sequences;

/// Computes [`super::scan`] by Burn's operations.
pub fn decompose(inputs: Inputs, parameters: Parameters, widths: Widths, tokens: &Tokens) -> Tensor<2> {
    let Widths { size, ranks, .. } = widths;
    let MixerSize { heads, head_width, state, .. } = size;
    let (batch, time, rows) = (tokens.batch(), tokens.time(), tokens.rows());
    let rates = Rates::new(inputs.rates, parameters.dt_bias, &widths, tokens);
    let turned = |x: Tensor<2>, bias: Tensor<3>| {
        let x = x.reshape([batch, 1, time, ranks, state]) + bias.reshape([1, heads, 1, ranks, state]);
        rates.rotate(x, widths.pairing).reshape([batch, heads, time * ranks, state])
    };
    let x = inputs.x.reshape([batch, time, heads, 1, head_width]);
    let v = (x * parameters.mimo_x.reshape([1, 1, heads, ranks, head_width])).swap_dims(1, 2);
    let all = Sequences {
        q: turned(inputs.queries, parameters.query_bias),
        k: turned(inputs.keys, parameters.key_bias),
        v: v.reshape([batch, heads, time * ranks, head_width]),
        decay: rates.decay.clone(),
        own: Some(rates.own.clone()),
        later: rates.later.clone(),
        skip: parameters.skip,
    };
    let y = all.outputs(ranks).reshape([batch, heads, time, ranks * head_width]).swap_dims(1, 2);
    without_padding(y.reshape([rows, heads * ranks * head_width]), time, tokens.lengths())
}

/// The rates that the input decides, [batch, heads, time] or with the pairs of channels as one more axis.
struct Rates {
    /// ΔA
    decay: Tensor<3>,
    /// τΔ
    own: Tensor<3>,
    /// τΔ and the next step's (1 - τ)Δ.
    later: Tensor<3>,
    /// Cosines of the angles so far, [batch, heads, time, state / 4].
    cosines: Tensor<4>,
    /// Their sines.
    sines: Tensor<4>,
}

impl Rates {
    /// Computes them from the projection `raw` [rows, 3 heads + angles].
    fn new(raw: Tensor<2>, dt_bias: Tensor<1>, widths: &Widths, tokens: &Tokens) -> Self {
        let (batch, time, rows) = (tokens.batch(), tokens.time(), tokens.rows());
        let (heads, angles) = (widths.size.heads, widths.angles());
        let columns = |from: usize, to: usize| raw.clone().slice([0..rows, from..to]);
        let by_head = |x: Tensor<2>| x.reshape([batch, time, heads]).swap_dims(1, 2);
        let sizes = by_head(softplus(columns(0, heads) + dt_bias.unsqueeze::<2>(), 1.0));
        let amounts = by_head(softplus(columns(heads, 2 * heads), 1.0).neg().clamp_max(-LEAST_DECAY));
        let shares = by_head(sigmoid(columns(2 * heads, 3 * heads)));

        let own = shares.clone() * sizes.clone();
        let added = sizes.clone() - own.clone();
        let none = Tensor::zeros([batch, heads, 1], &added.device());
        let next = Tensor::cat(vec![added.slice([0..batch, 0..heads, 1..time]), none], 2);

        // In f64 and with whole turns taken off, so that an angle keeps its digits however long the game.
        let speeds = columns(3 * heads, 3 * heads + angles).tanh() * std::f32::consts::PI;
        let speeds = speeds.reshape([batch, 1, time, angles]).cast(FloatDType::F64);
        let steps = sizes.clone().cast(FloatDType::F64).unsqueeze_dim::<4>(3) * speeds;
        let turns = steps.cumsum(2) / std::f64::consts::TAU;
        let parts = turns.clone() - turns.detach().round();
        let angles = (parts * std::f64::consts::TAU).cast(FloatDType::F32);
        Rates {
            decay: sizes * amounts,
            later: own.clone() + next,
            own,
            cosines: angles.clone().cos(),
            sines: angles.sin(),
        }
    }

    /// Turns rows [batch, heads, time, ranks, state] in their pairs: each channel becomes its share by the cosine and, with
    /// a sign, its partner's by the sine. Channels in no pair have cosine 1 and sine 0.
    fn rotate(&self, x: Tensor<5>, pairing: Pairing) -> Tensor<5> {
        let shape = x.dims();
        let [batch, heads, time, ranks, state] = shape;
        let [.., angles] = self.cosines.dims();
        let (half, device) = (state / 2, x.device());
        let still = [batch, heads, time, half - angles];
        let cosines = Tensor::cat(vec![self.cosines.clone(), Tensor::ones(still, &device)], 3);
        let sines = Tensor::cat(vec![self.sines.clone(), Tensor::zeros(still, &device)], 3);
        let signs = Tensor::<1>::from_floats([-1.0, 1.0], &device);
        let ([pairs, partners], axis) = match pairing {
            Pairing::Halves => ([[1, half], [2, 1]], 4),
            Pairing::Neighbours => ([[half, 1], [1, 2]], 5),
        };
        let x = match pairing {
            Pairing::Halves => x.reshape([batch, heads, time, ranks, 2, half]),
            Pairing::Neighbours => x.reshape([batch, heads, time, ranks, half, 2]),
        };
        let of_pairs = |x: Tensor<4>| x.reshape([batch, heads, time, 1, pairs[0], pairs[1]]);
        let signs = signs.reshape([1, 1, 1, 1, partners[0], partners[1]]);
        let turned = x.clone() * of_pairs(cosines) + x.flip([axis]) * (of_pairs(sines) * signs);
        turned.reshape(shape)
    }
}
