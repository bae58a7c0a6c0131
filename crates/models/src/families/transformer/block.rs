//! One block: attention and MLP, each behind a norm and added to the stream.

use burn::tensor::Tensor;

use super::EPSILON;
use crate::layers::{Linear, RmsNorm};
use crate::ops::attention::{Rotation, Shape, attention};
use crate::ops::{Gate, swiglu};
use crate::parameters::Scope;
use crate::{ForwardPass, Tokens};

/// Width of the MLP in multiples of the model's.
const EXPANSION: usize = 4;

pub struct Block {
    norm1: RmsNorm,
    qkv: Linear,
    attention_out: Linear,
    norm2: RmsNorm,
    mlp_in: Linear,
    mlp_out: Linear,
    heads: usize,
    dropout: f64,
}

impl Block {
    pub fn declare(scope: &mut Scope<'_>, width: usize, heads: usize, dropout: f64) -> Self {
        Block {
            norm1: RmsNorm::declare(&mut scope.at("norm1"), width, EPSILON),
            qkv: Linear::declare(&mut scope.at("attn.qkv"), width, 3 * width),
            attention_out: Linear::declare(&mut scope.at("attn.out_proj"), width, width),
            norm2: RmsNorm::declare(&mut scope.at("norm2"), width, EPSILON),
            mlp_in: Linear::declare(&mut scope.at("mlp.in_proj"), width, 2 * EXPANSION * width),
            mlp_out: Linear::declare(&mut scope.at("mlp.out_proj"), EXPANSION * width, width),
            heads,
            dropout,
        }
    }

    /// [batch * time, width] to the same; `index` names the block to the observer.
    pub fn forward(
        &self,
        pass: &ForwardPass,
        x: Tensor<2>,
        tokens: &Tokens,
        rotation: &Rotation,
        index: usize,
    ) -> Tensor<2> {
        let shape = Shape::new(tokens, self.heads, rotation.head_width());
        let qkv = self.qkv.forward(pass, self.norm1.forward(pass, x.clone()));
        let mixed = attention(qkv, shape, rotation, pass.next_dropout(self.dropout), pass.precision());
        let mixed = self.attention_out.forward(pass, mixed);
        pass.observe(|| format!("block{index}.attn"), &mixed);
        let x = x + pass.dropout(mixed, self.dropout);

        let gated = swiglu(self.mlp_in.forward(pass, self.norm2.forward(pass, x.clone())), Gate::First);
        let added = self.mlp_out.forward(pass, gated);
        pass.observe(|| format!("block{index}.mlp"), &added);
        let x = x + pass.dropout(added, self.dropout);
        pass.observe(|| format!("block{index}.out"), &x);
        x
    }
}
