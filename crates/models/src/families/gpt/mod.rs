//! The GPT of nanoGPT and GPT-2: learnt positions, pre-norm blocks of attention and an MLP, a final norm.
//!
//! With its defaults it is nanoGPT without biases; with `bias: true`, `gelu: tanh` and `tied: true` it is GPT-2. Names of
//! parameters are GPT-2's; files have them below `transformer.`.

mod block;
#[cfg(test)]
mod golden;
mod options;
#[cfg(test)]
mod tests;

use burn::tensor::Tensor;

use self::block::Block;
use self::options::Settings;
use super::Family;
use crate::incremental::Incremental;
use crate::layers::{Embedding, LayerNorm};
use crate::ops::attention::{EarlierSteps, Layout, Mask, Rotation, Shape, attention, continued};
use crate::parameters::{Init, Scope, Slot};
use crate::{Architecture, Backbone, ForwardPass, HeadInit, ModelError, Tokens};

pub const FAMILY: Family = Family {
    name: "gpt",
    part: "gpt",
    description: "the GPT of nanoGPT and GPT-2, with learnt positions, LayerNorm and either mask",
    options: options::ALL,
    head: HeadInit { weight: |_| INIT, bias: None },
    build: |architecture, scope| Ok(Box::new(Gpt::declare(architecture, scope)?)),
};

/// Initial values of tables, matrices and the head.
const INIT: Init = Init::Normal(DEVIATION);

/// The deviation of initial values.
const DEVIATION: f64 = 0.02;

/// ε of every norm.
const EPSILON: f32 = 1e-5;

struct Gpt {
    /// [vocabulary, width]
    tokens: Embedding,
    /// [positions, width]
    positions: Embedding,
    blocks: Vec<Block>,
    final_norm: LayerNorm,
    settings: Settings,
    dropout: f64,
}

impl Gpt {
    fn declare(architecture: &Architecture, scope: &mut Scope<'_>) -> Result<Self, ModelError> {
        let (width, settings) = (architecture.size.width, Settings::read(architecture)?);
        let mut table = scope.at("wte");
        let tokens = if settings.is_tied {
            Embedding::tied(&mut table, architecture.vocabulary, width, INIT)
        } else {
            Embedding::declare(&mut table, architecture.vocabulary, width, INIT, None)
        };
        let positions = Embedding::declare(&mut scope.at("wpe"), settings.positions, width, INIT, None);
        let blocks = (0..architecture.size.layers)
            .map(|i| Block::declare(&mut scope.at(format_args!("h.{i}")), architecture, &settings))
            .collect();
        let final_norm = LayerNorm::declare(&mut scope.at("ln_f"), width, settings.has_bias, EPSILON);
        Ok(Gpt { tokens, positions, blocks, final_norm, settings, dropout: architecture.dropout })
    }
}

impl Backbone for Gpt {
    fn blocks(&self, pass: &ForwardPass, tokens: &Tokens) -> Tensor<2> {
        let x = self.embed(pass, tokens, &tokens.positions());
        self.blocks_from(pass, 0, x, tokens, &|_| None, &mut |_| ())
    }

    fn final_norm(&self, pass: &ForwardPass, x: Tensor<2>) -> Tensor<2> {
        let x = self.final_norm.forward(pass, x);
        pass.observe(|| "final_norm".to_owned(), &x);
        x
    }

    fn longest(&self) -> Option<usize> {
        Some(self.settings.positions)
    }

    fn is_causal(&self) -> bool {
        matches!(self.settings.mask, Mask::Causal)
    }

    fn incremental(&self) -> Option<&dyn Incremental> {
        self.is_causal().then_some(self)
    }

    fn tied_table(&self) -> Option<Slot<2>> {
        self.settings.is_tied.then(|| self.tokens.table())
    }
}

impl Incremental for Gpt {
    fn embed(&self, pass: &ForwardPass, tokens: &Tokens, positions: &Tokens) -> Tensor<2> {
        let x = self.tokens.forward(pass, tokens) + self.positions.forward(pass, positions);
        let x = pass.dropout(x, self.dropout);
        pass.observe(|| "embedding".to_owned(), &x);
        pass.stream(0, x)
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
        let Settings { mask, heads, head_width, .. } = self.settings;
        let shape = Shape::new(tokens, heads, head_width).masked(mask);
        let still = Rotation::new(Layout::None, tokens.time(), head_width);
        for (i, block) in self.blocks.iter().enumerate().skip(site) {
            let attend = |qkv: Tensor<2>| {
                keep(qkv.clone());
                match earlier(i) {
                    Some(earlier) => continued(qkv, earlier, shape.clone(), pass.precision()),
                    None => attention(qkv, shape.clone(), &still, pass.next_dropout(self.dropout), pass.precision()),
                }
            };
            x = pass.stream(i + 1, block.forward(pass, x, i, attend));
        }
        x
    }
}
