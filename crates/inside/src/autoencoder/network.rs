//! The computation: latents, rows, loss.

use std::sync::Arc;

use burn::tensor::{Tensor, activation::relu};
use cwm_models::parameters::{Declaration, Declarations, Init, InitRng, Layout, Slot, Weights};
use cwm_models::{ForwardPass, ops};

use super::set_unit_columns;

/// A gated sparse autoencoder: its parameters and what it computes. It holds no values.
#[derive(Clone, Debug)]
pub struct Autoencoder {
    layout: Arc<Layout>,
    gate: Slot<2>,
    gate_bias: Slot<1>,
    magnitude: Slot<1>,
    magnitude_bias: Slot<1>,
    decoder: Slot<2>,
    decoder_bias: Slot<1>,
}

/// The loss of some rows, on the device: sums over rows of what is averaged over a batch.
#[derive(Clone, Debug)]
pub struct Loss {
    /// The loss as a share of the batch's, from which gradients come.
    pub share: Tensor<1>,
    /// Σ ‖x - x̂‖².
    pub reconstruction: Tensor<1>,
    /// Σ ‖relu(π)‖₁.
    pub sparsity: Tensor<1>,
    /// Σ of the squared error of the row that relu(π) gives.
    pub auxiliary: Tensor<1>,
    /// The number of rows in which each latent is above 0: [latents].
    pub active: Tensor<1>,
}

/// Places of the parameters in the layout.
const GATE: usize = 0;
const DECODER_BIAS: usize = 5;

impl Autoencoder {
    /// The place of `W_dec` in the layout.
    pub const DECODER: usize = 4;

    /// One for rows of so many channels with so many latents, both at least 1; `None` if that is too large for any machine.
    pub fn new(width: usize, latents: usize) -> Option<Self> {
        let mut declarations = Declarations::default();
        let mut root = declarations.root();
        let zero = Init::Constant(0.0);
        let gate = root.declare("W_gate", Declaration::new([latents, width], zero));
        let gate_bias = root.declare("b_gate", Declaration::new([latents], zero));
        let magnitude = root.declare("r_mag", Declaration::new([latents], zero));
        let magnitude_bias = root.declare("b_mag", Declaration::new([latents], zero));
        let decoder = root.declare("W_dec", Declaration::new([width, latents], zero));
        let decoder_bias = root.declare("b_dec", Declaration::new([width], zero));
        let layout = Arc::new(Layout::new(declarations)?);
        Some(Autoencoder { layout, gate, gate_bias, magnitude, magnitude_bias, decoder, decoder_bias })
    }

    /// Its parameters: `W_gate` [latents, width], `b_gate`, `r_mag`, `b_mag` [latents], `W_dec` [width, latents], `b_dec` [width].
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// Number of channels of a row.
    pub fn width(&self) -> usize {
        self.layout.parameters()[Self::DECODER].shape[0]
    }

    /// Number of latents.
    pub fn latents(&self) -> usize {
        self.layout.parameters()[Self::DECODER].shape[1]
    }

    /// Weights before training: the decoder's columns are random directions, the gate its transpose, `b_dec` as given, all else 0.
    pub fn initial_weights(&self, seed: u64, decoder_bias: &[f32]) -> Weights {
        let (width, latents) = (self.width(), self.latents());
        let mut weights = Weights::zeros(self.layout.clone());
        Init::Normal(1.0).fill(weights.get_mut(Self::DECODER), &mut InitRng::seeded(seed));
        set_unit_columns(weights.get_mut(Self::DECODER), latents);
        let decoder = weights.get(Self::DECODER).to_vec();
        for (latent, row) in weights.get_mut(GATE).chunks_exact_mut(width).enumerate() {
            row.iter_mut().enumerate().for_each(|(channel, value)| *value = decoder[channel * latents + latent]);
        }
        weights.get_mut(DECODER_BIAS).copy_from_slice(decoder_bias);
        weights
    }

    /// π, the input of the gate, and the latents f ≥ 0, of scaled rows [rows, width]; both [rows, latents]. The step from π to the
    /// gate has derivative 0.
    pub fn encode(&self, pass: &ForwardPass, x: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let centred = x - pass.parameter(self.decoder_bias).unsqueeze::<2>();
        let z = ops::linear(centred, pass.parameter(self.gate), None, pass.precision());
        let pi = z.clone() + pass.parameter(self.gate_bias).unsqueeze::<2>();
        let size = pass.parameter(self.magnitude).exp().unsqueeze::<2>();
        let magnitude = relu(z * size + pass.parameter(self.magnitude_bias).unsqueeze::<2>());
        let gate = pi.clone().greater_elem(0.0).float();
        (pi, magnitude * gate)
    }

    /// Scaled rows [rows, width] of latents [rows, latents].
    pub fn decode(&self, pass: &ForwardPass, latents: Tensor<2>) -> Tensor<2> {
        let (weight, bias) = (pass.parameter(self.decoder), pass.parameter(self.decoder_bias));
        ops::linear(latents, weight, Some(bias), pass.precision())
    }

    /// The loss of scaled rows, some of a batch of `batch` rows, with this weight of its sparsity.
    pub fn loss(&self, pass: &ForwardPass, x: Tensor<2>, sparsity_weight: f64, batch: usize) -> Loss {
        let (pi, latents) = self.encode(pass, x.clone());
        let open = relu(pi);
        let squares = |rows: Tensor<2>| {
            let error = rows - x.clone();
            (error.clone() * error).sum()
        };
        let reconstruction = squares(self.decode(pass, latents.clone()));
        let sparsity = open.clone().sum();
        // No gradient flows into the decoder here: the auxiliary term would train it for rows that it never gives.
        let frozen = |tensor: Tensor<1>| tensor.detach();
        let weight = pass.parameter(self.decoder).detach();
        let bias = frozen(pass.parameter(self.decoder_bias));
        let auxiliary = squares(ops::linear(open, weight, Some(bias), pass.precision()));
        let sum = reconstruction.clone() + sparsity.clone().mul_scalar(sparsity_weight) + auxiliary.clone();
        let active = latents.detach().greater_elem(0.0).float().sum_dim(0).squeeze_dim(0);
        Loss { share: sum.div_scalar(batch as f64), reconstruction, sparsity, auxiliary, active }
    }
}
