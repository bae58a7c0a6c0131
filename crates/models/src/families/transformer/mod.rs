//! The Transformer of the paper (models.md §2): pre-norm blocks of causal attention and a gated MLP, and a final norm.

mod block;

use burn::tensor::Tensor;

use self::block::Block;
use super::Family;
use crate::architecture::{OptionSpec, OptionValues};
use crate::incremental::Incremental;
use crate::layers::{Embedding, RmsNorm};
use crate::ops::attention::{EarlierSteps, Layout, Rotation, Shape, attention, continued};
use crate::parameters::{Init, Scope};
use crate::{Architecture, Backbone, ForwardPass, HeadInit, ModelError, Tokens};

pub const FAMILY: Family = Family {
    name: "transformer",
    part: "transformer",
    description: "causal self-attention with rotary positions and a SwiGLU MLP",
    options: &[ROPE, HEADS],
    head: HeadInit::LINEAR,
    build: |architecture, scope| Ok(Box::new(Transformer::declare(architecture, scope)?)),
};

const ROPE: OptionSpec = OptionSpec {
    name: "rope",
    values: OptionValues::Choice(&["upstream", "standard"]),
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
    heads: usize,
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
                .map(|i| Block::declare(&mut scope.at(format_args!("blocks.{i}")), width, architecture.dropout))
                .collect(),
            final_norm: RmsNorm::declare(&mut scope.at("final_norm"), width, EPSILON),
            layout: if architecture.word(&ROPE) == "standard" { Layout::Standard } else { Layout::Upstream },
            heads,
            head_width,
            dropout: architecture.dropout,
        })
    }
}

impl Backbone for Transformer {
    fn blocks(&self, pass: &ForwardPass, tokens: &Tokens) -> Tensor<2> {
        let rotation = Rotation::new(self.layout, tokens.time(), self.head_width);
        let shape = Shape::new(tokens, self.heads, self.head_width);
        let mut x = self.embed(pass, tokens, tokens);
        for (i, block) in self.blocks.iter().enumerate() {
            let attend = |qkv: Tensor<2>| {
                attention(qkv, shape.clone(), &rotation, pass.next_dropout(self.dropout), pass.precision())
            };
            x = pass.stream(i + 1, block.forward(pass, x, i, attend));
        }
        x
    }

    fn final_norm(&self, pass: &ForwardPass, x: Tensor<2>) -> Tensor<2> {
        let x = self.final_norm.forward(pass, x);
        pass.observe(|| "final_norm".to_owned(), &x);
        x
    }

    fn incremental(&self) -> Option<&dyn Incremental> {
        Some(self)
    }
}

/// The cache holds queries and keys after the rotation by their positions, so that none is rotated twice.
impl Incremental for Transformer {
    fn embed(&self, pass: &ForwardPass, tokens: &Tokens, _positions: &Tokens) -> Tensor<2> {
        pass.stream(0, pass.dropout(self.tok_emb.forward(pass, tokens), self.dropout))
    }

    fn blocks_from(
        &self,
        pass: &ForwardPass,
        site: usize,
        mut x: Tensor<2>,
        tokens: &Tokens,
        earlier: &dyn Fn(usize) -> Option<EarlierSteps>,
        keep: &mut dyn FnMut(Tensor<2>),
    ) -> Tensor<2> {
        let shape = Shape::new(tokens, self.heads, self.head_width);
        let still = Rotation::new(Layout::None, tokens.time(), self.head_width);
        // The steps before are the same for all blocks.
        let positions = match self.blocks.get(site).and_then(|_| earlier(site)) {
            None => tokens.positions(),
            Some(EarlierSteps { after, .. }) => tokens.positions_behind(after.iter().map(|after| after.steps)),
        };
        let last = positions.ids().iter().copied().max().unwrap_or(0) as usize;
        let rotation = Rotation::new(self.layout, last + 1, self.head_width);
        for (i, block) in self.blocks.iter().enumerate().skip(site) {
            let attend = |qkv: Tensor<2>| {
                let qkv = self.turned(qkv, &rotation, positions.ids());
                keep(qkv.clone());
                match earlier(i) {
                    Some(earlier) => continued(qkv, earlier, shape.clone(), pass.precision()),
                    None => attention(qkv, shape.clone(), &still, None, pass.precision()),
                }
            };
            x = pass.stream(i + 1, block.forward(pass, x, i, attend));
        }
        x
    }
}

impl Transformer {
    /// Queries, keys and values [rows, 3 * width], of which queries and keys are turned by the position of their row.
    fn turned(&self, qkv: Tensor<2>, rotation: &Rotation, positions: &[u32]) -> Tensor<2> {
        let ([rows, all], turning) = (qkv.dims(), 2 * self.heads);
        let parts = qkv.reshape([rows, 3 * self.heads, self.head_width]);
        let turned = rotation.rotate_rows(parts.clone().slice([0..rows, 0..turning]), positions);
        Tensor::cat(vec![turned, parts.slice([0..rows, turning..3 * self.heads])], 1).reshape([rows, all])
    }
}
