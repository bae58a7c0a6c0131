//! A model of any family with a head, built.

use std::collections::BTreeMap;
use std::sync::Arc;

use burn::tensor::{Int, Tensor, TensorData};
use cwm_contract::ParameterError;

use crate::head::Head;
use crate::incremental::IncrementalNetwork;
use crate::parameters::{Declarations, Layout, Weights};
use crate::streaming::{Real, Recurrence, RecurrentState};
use crate::{Architecture, Backbone, ForwardPass, ModelError, Size, Tokens, families};

/// A built model: its architecture, its parameters' layout, its blocks and its head.
pub struct Network {
    architecture: Architecture,
    layout: Arc<Layout>,
    backbone: Box<dyn Backbone>,
    head: Head,
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Network").field("architecture", &self.architecture).finish_non_exhaustive()
    }
}

impl Network {
    /// Builds the model that `architecture` describes, with a head of `outputs` logits a position.
    ///
    /// # Errors
    /// No such family, an unknown option, a size that the family cannot have, or more parameters than are meant.
    pub fn build(architecture: Architecture, outputs: usize) -> Result<Self, ModelError> {
        let family = families::find(&architecture.family)?;
        architecture.check(family.options)?;
        let mut declarations = Declarations::default();
        let backbone = (family.build)(&architecture, &mut declarations.root())?;
        let head = match backbone.tied_table() {
            None => Head::declare(&mut declarations.root(), architecture.size.width, outputs, family.head),
            Some(table) => Head::tied(table, outputs).ok_or_else(|| {
                ModelError::Architecture(format!(
                    "a table of {} tokens has too few rows for a tied head of {outputs} outputs",
                    table.shape[0]
                ))
            })?,
        };
        let layout = Layout::new(declarations).ok_or_else(|| {
            let (family, size) = (&architecture.family, architecture.size);
            ModelError::Architecture(format!(
                "{family} {size} would have more than {} parameters",
                Layout::MAX_PARAMETERS
            ))
        })?;
        Ok(Network { architecture, layout: Arc::new(layout), backbone, head })
    }

    /// Returns the architecture that it was built from.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// The largest number of tokens of a sequence that it can read; `None` if there is no limit.
    pub fn longest(&self) -> Option<usize> {
        self.backbone.longest()
    }

    /// True if a later token never changes an earlier step.
    pub fn is_causal(&self) -> bool {
        self.backbone.is_causal()
    }

    /// Refuses sequences that are too long for it, the longest of which has `steps` tokens.
    ///
    /// # Errors
    /// They are; in words.
    pub fn check_length(&self, steps: usize) -> Result<(), ModelError> {
        match self.longest() {
            Some(longest) if steps > longest => Err(ModelError::Architecture(format!(
                "a sequence of {steps} tokens is longer than the {longest} positions of {} {}",
                self.architecture.family, self.architecture.size
            ))),
            _ => Ok(()),
        }
    }

    /// Its parameters.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// Fresh weights; equal seeds give equal bits.
    pub fn initial_weights(&self, seed: u64) -> Weights {
        Weights::initial(self.layout.clone(), seed)
    }

    /// The model going on from steps that it has passed; `None` if it only makes whole passes.
    pub fn incremental(&self) -> Option<IncrementalNetwork<'_>> {
        self.backbone.incremental().map(|backbone| IncrementalNetwork::new(backbone, self.longest()))
    }

    /// The model reading token by token; `None` if it must see all tokens at once.
    pub fn recurrent(&self) -> Option<RecurrentNetwork<'_, f32>> {
        self.backbone.recurrence().map(|backbone| RecurrentNetwork { backbone, head: self.head })
    }

    /// Returns [`Network::recurrent`] in f64, the reference for the other implementations.
    pub fn recurrent_f64(&self) -> Option<RecurrentNetwork<'_, f64>> {
        self.backbone.recurrence_f64().map(|backbone| RecurrentNetwork { backbone, head: self.head })
    }

    /// Logits [batch, time, outputs].
    ///
    /// # Panics
    /// As [`Network::flat_logits`].
    pub fn logits(&self, pass: &ForwardPass, tokens: &Tokens) -> Tensor<3> {
        self.flat_logits(pass, tokens).reshape([tokens.batch(), tokens.time(), self.head.outputs()])
    }

    /// Logits with batch and time as one axis: [batch * time, outputs].
    ///
    /// # Panics
    /// A sequence is too long: callers check it with [`Network::check_length`]. Or the pass has a site that this model has
    /// not: callers check it against [`Network::sites`].
    pub fn flat_logits(&self, pass: &ForwardPass, tokens: &Tokens) -> Tensor<2> {
        self.logits_from(pass, self.blocks(pass, tokens))
    }

    /// The logits of some rows of [`Network::flat_logits`] alone: [rows, outputs].
    ///
    /// # Panics
    /// As [`Network::flat_logits`]; or there is no such row.
    pub fn logits_at(&self, pass: &ForwardPass, tokens: &Tokens, rows: &[usize]) -> Tensor<2> {
        self.logits_of_rows(pass, self.blocks(pass, tokens), rows)
    }

    /// The logits [rows, outputs] of these rows of the last site `x`.
    ///
    /// # Panics
    /// There is no such row.
    pub fn logits_of_rows(&self, pass: &ForwardPass, x: Tensor<2>, rows: &[usize]) -> Tensor<2> {
        let rows: Vec<i32> = rows.iter().map(|&row| row as i32).collect();
        let rows = Tensor::<1, Int>::from_data(TensorData::new(rows.clone(), [rows.len()]), pass.device());
        self.head.forward(pass, self.final_norm(pass, x).select(0, rows))
    }

    /// Number of sites of the stream: one after the embedding and one after each block.
    pub fn sites(&self) -> usize {
        self.architecture.size.layers + 1
    }

    /// The model's final norm of any rows of the stream, [rows, width]; the rows themselves where it has none.
    pub fn final_norm(&self, pass: &ForwardPass, x: Tensor<2>) -> Tensor<2> {
        self.backbone.final_norm(pass, x)
    }

    /// The logits [rows, outputs] of rows of the last site, [rows, width].
    pub fn logits_from(&self, pass: &ForwardPass, x: Tensor<2>) -> Tensor<2> {
        self.head.forward(pass, self.final_norm(pass, x))
    }

    fn blocks(&self, pass: &ForwardPass, tokens: &Tokens) -> Tensor<2> {
        if let Err(error) = self.check_length(tokens.time()) {
            panic!("{error}");
        }
        let last = pass.last_site();
        assert!(last < Some(self.sites()), "site {last:?} of {}", self.sites());
        self.backbone.blocks(pass, tokens)
    }
}

/// The first fault of a stage's parameters `family`, `size` and `options`, of which `build` makes a model.
pub fn parameter_fault(
    family: &str,
    size: &str,
    options: &BTreeMap<String, String>,
    build: impl FnOnce() -> Result<(), ModelError>,
) -> Option<ParameterError> {
    let (parameter, message) = if let Err(error) = families::find(family) {
        ("family", format!("is unknown: {error}"))
    } else if let Err(error) = size.parse::<Size>() {
        ("size", format!("is wrong: {error}"))
    } else if let Err(error) = build() {
        (if options.is_empty() { "size" } else { "options" }, format!("makes no model: {error}"))
    } else {
        return None;
    };
    Some(ParameterError::new(parameter, message))
}

/// A model that reads one token after another, in the precision `F`.
#[derive(Clone, Copy)]
pub struct RecurrentNetwork<'n, F> {
    backbone: &'n dyn Recurrence<F>,
    head: Head,
}

impl<F: Real> RecurrentNetwork<'_, F> {
    /// The state before the first token.
    pub fn start(&self, weights: &Weights) -> RecurrentState<F> {
        self.backbone.start(weights)
    }

    /// Reads a token; returns the logits after it, [outputs].
    ///
    /// # Panics
    /// As [`Recurrence::step`].
    pub fn step(&self, weights: &Weights, state: &mut RecurrentState<F>, token: u32) -> Vec<F> {
        self.head.step(weights, &self.backbone.step(weights, state, token))
    }
}
