//! One block: attention and MLP, each behind a norm and added to the stream.

use burn::tensor::Tensor;

use super::options::Settings;
use super::{DEVIATION, EPSILON, INIT};
use crate::layers::{LayerNorm, Linear};
use crate::ops::{gelu, gelu_tanh};
use crate::parameters::{Declaration, Init, Scope};
use crate::{Architecture, ForwardPass};

/// Width of the MLP in multiples of the model's.
const EXPANSION: usize = 4;

pub struct Block {
    norm1: LayerNorm,
    /// width to 3 width: queries, keys, values, each head by head.
    qkv: Linear,
    attention_out: Linear,
    norm2: LayerNorm,
    mlp_in: Linear,
    mlp_out: Linear,
    is_tanh: bool,
    dropout: f64,
}

impl Block {
    pub fn declare(scope: &mut Scope<'_>, architecture: &Architecture, settings: &Settings) -> Self {
        let (width, has_bias) = (architecture.size.width, settings.has_bias);
        // What 2L branches add to the stream has at the beginning the spread of one.
        let added = Init::Normal(DEVIATION / (2.0 * architecture.size.layers as f64).sqrt());
        let mut linear = |name: &str, inputs: usize, outputs: usize, init: Init| {
            let bias = has_bias.then(|| Declaration::new([outputs], Init::Constant(0.0)).without_decay());
            Linear::declare_as(&mut scope.at(name), Declaration::new([outputs, inputs], init), bias)
        };
        let qkv = linear("attn.c_attn", width, 3 * width, INIT);
        let attention_out = linear("attn.c_proj", width, width, added);
        let mlp_in = linear("mlp.c_fc", width, EXPANSION * width, INIT);
        let mlp_out = linear("mlp.c_proj", EXPANSION * width, width, added);
        let mut norm = |name: &str| LayerNorm::declare(&mut scope.at(name), width, has_bias, EPSILON);
        Block {
            norm1: norm("ln_1"),
            qkv,
            attention_out,
            norm2: norm("ln_2"),
            mlp_in,
            mlp_out,
            is_tanh: settings.is_tanh,
            dropout: architecture.dropout,
        }
    }

    /// [batch * time, width] to the same; `index` names the block to the observer, and `attend` makes of queries, keys and
    /// values, [batch * time, 3 * width], what the steps see.
    pub fn forward(
        &self,
        pass: &ForwardPass,
        x: Tensor<2>,
        index: usize,
        attend: impl FnOnce(Tensor<2>) -> Tensor<2>,
    ) -> Tensor<2> {
        let qkv = self.qkv.forward(pass, self.norm1.forward(pass, x.clone()));
        let mixed = self.attention_out.forward(pass, attend(qkv));
        pass.observe(|| format!("block{index}.attn"), &mixed);
        let x = x + pass.dropout(mixed, self.dropout);

        let inner = self.mlp_in.forward(pass, self.norm2.forward(pass, x.clone()));
        let inner = if self.is_tanh { gelu_tanh(inner) } else { gelu(inner) };
        let added = self.mlp_out.forward(pass, inner);
        pass.observe(|| format!("block{index}.mlp"), &added);
        let x = x + pass.dropout(added, self.dropout);
        pass.observe(|| format!("block{index}.out"), &x);
        x
    }
}
