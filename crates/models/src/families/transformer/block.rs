//! One block: attention and MLP, each behind a norm and added to the stream.

use burn::tensor::Tensor;

use super::EPSILON;
use crate::ForwardPass;
use crate::layers::{Linear, RmsNorm};
use crate::ops::{Gate, swiglu};
use crate::parameters::Scope;

/// Width of the MLP in multiples of the model's.
const EXPANSION: usize = 4;

pub struct Block {
    norm1: RmsNorm,
    qkv: Linear,
    attention_out: Linear,
    norm2: RmsNorm,
    mlp_in: Linear,
    mlp_out: Linear,
    dropout: f64,
}

impl Block {
    pub fn declare(scope: &mut Scope<'_>, width: usize, dropout: f64) -> Self {
        Block {
            norm1: RmsNorm::declare(&mut scope.at("norm1"), width, EPSILON),
            qkv: Linear::declare(&mut scope.at("attn.qkv"), width, 3 * width),
            attention_out: Linear::declare(&mut scope.at("attn.out_proj"), width, width),
            norm2: RmsNorm::declare(&mut scope.at("norm2"), width, EPSILON),
            mlp_in: Linear::declare(&mut scope.at("mlp.in_proj"), width, 2 * EXPANSION * width),
            mlp_out: Linear::declare(&mut scope.at("mlp.out_proj"), EXPANSION * width, width),
            dropout,
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
        let mixed = attend(self.qkv.forward(pass, self.norm1.forward(pass, x.clone())));
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
