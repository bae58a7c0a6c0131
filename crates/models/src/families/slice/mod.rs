//! Structured linear controlled differential equations (SLiCE; models.md §3): a state that each token's increment
//! multiplies with a matrix of blocks, then an MLP. No norm follows the last layer.

mod layer;
mod path;
mod scan;

use burn::tensor::Tensor;

use self::layer::Layer;
use self::scan::ScanAlgorithm;
use super::Family;
use crate::architecture::{OptionSpec, OptionValues};
use crate::layers::Embedding;
use crate::parameters::{Init, Scope, Weights};
use crate::streaming::Real;
use crate::{Architecture, Backbone, ForwardPass, HeadInit, ModelError, Recurrence, RecurrentState, Tokens};

/// The family with blocks of several channels.
pub const BLOCKS: Family = Family {
    name: "slice",
    part: "slice",
    description: "a linear controlled differential equation with block-diagonal transitions, and a GELU MLP",
    options: &[BLOCK, SCAN],
    head: HeadInit::LINEAR,
    build: |architecture, scope| {
        let block = architecture.count(&BLOCK).unwrap_or(USUAL_BLOCK);
        Ok(Box::new(Slice::declare(architecture, block, scope)?))
    },
};

/// The ablation: each channel for itself.
pub const DIAGONAL: Family = Family {
    name: "slice_diag",
    part: "slice",
    description: "the same with diagonal transitions: each channel for itself",
    options: &[SCAN],
    head: HeadInit::LINEAR,
    build: |architecture, scope| Ok(Box::new(Slice::declare(architecture, 1, scope)?)),
};

const BLOCK: OptionSpec = OptionSpec {
    name: "block",
    values: OptionValues::Count,
    doc: "Channels of a block of the transitions; by default 8, as the authors' presets have it.",
};

const SCAN: OptionSpec = OptionSpec {
    name: "scan",
    values: OptionValues::Implementations(&["chunked", "sequential"]),
    doc: "How the recurrence is computed: `chunked` by products of transitions over 256 steps as the authors' code does \
          (the default; states that explode may become NaN earlier), or `sequential`, step by step.",
};

/// Channels of a block in the paper's runs.
const USUAL_BLOCK: usize = 8;

struct Slice {
    embedding: Embedding,
    layers: Vec<Layer>,
    dropout: f64,
}

impl Slice {
    fn declare(architecture: &Architecture, block: usize, scope: &mut Scope<'_>) -> Result<Self, ModelError> {
        let (size, width) = (architecture.size, architecture.size.width);
        if !width.is_multiple_of(block) {
            return Err(ModelError::Architecture(format!(
                "size {size}: a width of {width} does not divide into blocks of {block} channels"
            )));
        }
        let algorithm =
            if architecture.word(&SCAN) == "sequential" { ScanAlgorithm::Sequential } else { ScanAlgorithm::Chunked };
        let embedding =
            Embedding::declare(&mut scope.at("embedding"), architecture.vocabulary, width, Init::Normal(1.0), None);
        let mut layer = |i| {
            Layer::declare(&mut scope.at(format_args!("layers.{i}")), width, block, algorithm, architecture.dropout)
        };
        let layers = (0..size.layers).map(&mut layer).collect();
        Ok(Slice { embedding, layers, dropout: architecture.dropout })
    }
}

impl Backbone for Slice {
    fn blocks(&self, pass: &ForwardPass, tokens: &Tokens) -> Tensor<2> {
        let x = pass.dropout(self.embedding.forward(pass, tokens), self.dropout);
        let mut x = pass.stream(0, x);
        for (i, layer) in self.layers.iter().enumerate() {
            x = pass.stream(i + 1, layer.forward(pass, x, tokens, i));
        }
        x
    }

    fn recurrence(&self) -> Option<&dyn Recurrence<f32>> {
        Some(self)
    }

    fn recurrence_f64(&self) -> Option<&dyn Recurrence<f64>> {
        Some(self)
    }
}

impl<F: Real> Recurrence<F> for Slice {
    fn start(&self, weights: &Weights) -> RecurrentState<F> {
        RecurrentState(self.layers.iter().map(|layer| layer.start(weights)).collect())
    }

    fn step(&self, weights: &Weights, memory: &mut RecurrentState<F>, token: u32) -> Vec<F> {
        let mut x = self.embedding.step(weights, token);
        for (layer, memory) in self.layers.iter().zip(&mut memory.0) {
            x = layer.step(weights, memory, &x);
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::Architecture;
    use crate::heads::labels;

    #[test]
    fn a_width_that_does_not_divide_into_blocks_is_refused_in_words() {
        let architecture = |family: &str| Architecture {
            family: family.to_owned(),
            size: "d100/l1".parse().unwrap(),
            vocabulary: 40,
            dropout: 0.0,
            options: BTreeMap::new(),
        };
        assert_eq!(
            labels::network(architecture("slice")).unwrap_err().to_string(),
            "size d100/l1: a width of 100 does not divide into blocks of 8 channels"
        );
        assert!(labels::network(architecture("slice_diag")).is_ok());
    }

    #[test]
    fn blocks_of_one_channel_are_the_diagonal() {
        let build = |family: &str, options: &[(&str, &str)]| {
            labels::network(Architecture {
                family: family.to_owned(),
                size: "d32/l2".parse().unwrap(),
                vocabulary: 40,
                dropout: 0.0,
                options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            })
            .unwrap()
        };
        let (diagonal, ones) = (build("slice_diag", &[]), build("slice", &[("block", "1")]));
        assert_eq!(diagonal.initial_weights(4).values(), ones.initial_weights(4).values());
    }
}
