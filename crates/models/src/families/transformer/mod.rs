//! The Transformer of the paper (models.md §2): pre-norm blocks of causal attention and a gated MLP, and a final norm.

mod block;

use burn::tensor::Tensor;

use self::block::Block;
use super::Family;
use crate::architecture::{OptionSpec, OptionValues};
use crate::heads::HeadInit;
use crate::layers::{Embedding, RmsNorm};
use crate::ops::attention::{Layout, Rotation};
use crate::parameters::{Init, Scope};
use crate::{Architecture, Backbone, ForwardPass, ModelError, Tokens};

pub const FAMILY: Family = Family {
    name: "transformer",
    part: "transformer",
    about: "causal self-attention with rotary positions and a SwiGLU MLP",
    options: &[ROPE, HEADS],
    head: HeadInit::LINEAR,
    build: |architecture, scope| Ok(Box::new(Transformer::declare(architecture, scope)?)),
};

const ROPE: OptionSpec = OptionSpec {
    name: "rope",
    values: OptionValues::Words(&["upstream", "standard"]),
    doc: "How positions turn queries and keys: `upstream` as the authors' code does (the default; no rotation), or \
          `standard` as Su et al. describe.",
};

const HEADS: OptionSpec = OptionSpec {
    name: "heads",
    values: OptionValues::Count,
    doc: "Number of attention heads; by default one for each 64 channels, at least one.",
};

/// ε of every norm.
const EPSILON: f32 = 1e-6;

struct Transformer {
    tok_emb: Embedding,
    blocks: Vec<Block>,
    final_norm: RmsNorm,
    layout: Layout,
    head_width: usize,
    dropout: f64,
}

impl Transformer {
    fn declare(architecture: &Architecture, scope: &mut Scope<'_>) -> Result<Self, ModelError> {
        let size = architecture.size;
        let heads = match architecture.count(&HEADS) {
            Some(heads) => heads,
            None => size.heads()?,
        };
        let head_width = size.divided_by(heads)?;
        if !head_width.is_multiple_of(2) {
            return Err(ModelError::Architecture(format!(
                "size {size} with {heads} heads: rotary positions need an even number of channels a head, not {head_width}"
            )));
        }
        let width = size.width;
        Ok(Transformer {
            tok_emb: Embedding::declare(
                &mut scope.at("tok_emb"),
                architecture.vocabulary,
                width,
                Init::Normal(1.0),
                None,
            ),
            blocks: (0..size.layers)
                .map(|i| Block::declare(&mut scope.at(format_args!("blocks.{i}")), width, heads, architecture.dropout))
                .collect(),
            final_norm: RmsNorm::declare(&mut scope.at("final_norm"), width, EPSILON),
            layout: if architecture.word(&ROPE) == "standard" { Layout::Standard } else { Layout::Upstream },
            head_width,
            dropout: architecture.dropout,
        })
    }
}

impl Backbone for Transformer {
    fn blocks(&self, pass: &ForwardPass, tokens: &Tokens) -> Tensor<2> {
        let rotation = Rotation::new(self.layout, tokens.time(), self.head_width);
        let x = pass.dropout(self.tok_emb.forward(pass, tokens), self.dropout);
        let mut x = pass.stream(0, x);
        for (i, block) in self.blocks.iter().enumerate() {
            x = pass.stream(i + 1, block.forward(pass, x, tokens, &rotation, i));
        }
        x
    }

    fn final_norm(&self, pass: &ForwardPass, x: Tensor<2>) -> Tensor<2> {
        let x = self.final_norm.forward(pass, x);
        pass.observe(|| "final_norm".to_owned(), &x);
        x
    }
}
