//! Gated DeltaNet (Yang, Kautz and Hatamizadeh 2025; models.md §4): a state that decays and is corrected towards each
//! value at its key, then a gated MLP.

mod block;
mod delta;
mod gated_norm;
mod gates;
mod mixer;

use burn::tensor::Tensor;

use self::block::Block;
use self::mixer::Size;
use super::Family;
use crate::architecture::{OptionSpec, OptionValues};
use crate::layers::{Embedding, RmsNorm};
use crate::parameters::{Init, Scope, Weights};
use crate::streaming::Real;
use crate::{Architecture, Backbone, ForwardPass, HeadInit, ModelError, Recurrence, RecurrentState, Tokens};

/// Eigenvalues of a step's transition may be negative.
pub const NEGATIVE: Family = Family {
    name: "gated_deltanet",
    part: "gated_deltanet",
    description: "a gated delta rule whose transitions may have negative eigenvalues, and a SwiGLU MLP; no dropout",
    options: &[HEADS, KEY_WIDTH],
    head: HEAD,
    build: |architecture, scope| Ok(Box::new(GatedDeltaNet::declare(architecture, 2.0, scope)?)),
};

/// The ablation: they may not.
pub const POSITIVE: Family = Family {
    name: "gated_deltanet_pos",
    part: "gated_deltanet",
    description: "the same with positive eigenvalues alone",
    options: &[HEADS, KEY_WIDTH],
    head: HEAD,
    build: |architecture, scope| Ok(Box::new(GatedDeltaNet::declare(architecture, 1.0, scope)?)),
};

const HEADS: OptionSpec = OptionSpec {
    name: "heads",
    values: OptionValues::Count,
    doc: "Number of heads; by default one for each 64 channels, at least one.",
};

const KEY_WIDTH: OptionSpec = OptionSpec {
    name: "key_width",
    values: OptionValues::Count,
    doc: "Width of a head's keys; by default 48 at every size. Values are twice as wide.",
};

/// Width of keys in the paper's runs.
const USUAL_KEY_WIDTH: usize = 48;
/// ε of every norm.
const EPSILON: f32 = 1e-6;
/// The initial distribution of all matrices, the table and the convolutions.
const INIT: Init = Init::Normal(0.02);
/// The initialization of the head: as other matrices, with a bias of zero.
const HEAD: HeadInit = HeadInit { weight: |_| INIT, bias: Some(|_| Init::Constant(0.0)) };

struct GatedDeltaNet {
    embeddings: Embedding,
    blocks: Vec<Block>,
    norm: RmsNorm,
}

impl GatedDeltaNet {
    /// `max_beta` is the largest strength of a correction.
    fn declare(architecture: &Architecture, max_beta: f32, scope: &mut Scope<'_>) -> Result<Self, ModelError> {
        let width = architecture.size.width;
        let heads = match architecture.count(&HEADS) {
            Some(heads) => heads,
            None => architecture.size.heads()?,
        };
        let key = architecture.count(&KEY_WIDTH).unwrap_or(USUAL_KEY_WIDTH);
        let size = Size { width, heads, key, value: 2 * key, max_beta };
        let mut backbone = scope.at("backbone");
        // The padding row begins like the others and gets no gradient (PyTorch's `padding_idx`).
        let embeddings = Embedding::declare(
            &mut backbone.at("embeddings"),
            architecture.vocabulary,
            width,
            INIT,
            Some(architecture.vocabulary - 1),
        );
        let blocks = (0..architecture.size.layers)
            .map(|i| Block::declare(&mut backbone.at(format_args!("layers.{i}")), size))
            .collect();
        let norm = RmsNorm::declare(&mut backbone.at("norm"), width, EPSILON);
        Ok(GatedDeltaNet { embeddings, blocks, norm })
    }
}

impl Backbone for GatedDeltaNet {
    fn blocks(&self, pass: &ForwardPass, tokens: &Tokens) -> Tensor<2> {
        let mut x = pass.stream(0, self.embeddings.forward(pass, tokens));
        for (i, block) in self.blocks.iter().enumerate() {
            x = pass.stream(i + 1, block.forward(pass, x, tokens, i));
        }
        x
    }

    fn final_norm(&self, pass: &ForwardPass, x: Tensor<2>) -> Tensor<2> {
        let x = self.norm.forward(pass, x);
        pass.observe(|| "final_norm".to_owned(), &x);
        x
    }

    fn recurrence(&self) -> Option<&dyn Recurrence<f32>> {
        Some(self)
    }

    fn recurrence_f64(&self) -> Option<&dyn Recurrence<f64>> {
        Some(self)
    }
}

impl<F: Real> Recurrence<F> for GatedDeltaNet {
    fn start(&self, _: &Weights) -> RecurrentState<F> {
        RecurrentState(self.blocks.iter().flat_map(Block::start).collect())
    }

    fn step(&self, weights: &Weights, memory: &mut RecurrentState<F>, token: u32) -> Vec<F> {
        let mut x = self.embeddings.step(weights, token);
        for (block, memory) in self.blocks.iter().zip(memory.0.chunks_exact_mut(Block::ARRAYS)) {
            x = block.step(weights, memory, &x);
        }
        self.norm.step(weights, &x)
    }
}
