//! A model of any family, built.

use std::sync::Arc;

use burn::tensor::Tensor;

use crate::families;
use crate::heads::LOGITS;
use crate::parameters::{Declarations, Layout, Weights};
use crate::{Architecture, ModelError, Pass, Stepwise, Tokens};

/// What a family computes. It holds slots, not values: the same model serves training and testing, on any device.
pub trait Model: Send + Sync {
    /// Tokens [batch, time] to logits [batch * time, 1878], game by game, cut as [`crate::heads`] says. Logits at padded
    /// steps are finite and mean nothing; a later token never changes an earlier step.
    fn forward(&self, pass: &Pass, tokens: &Tokens) -> Tensor<2>;

    /// The same model reading token after token; `None` if it has no memory of constant size.
    fn stepwise(&self) -> Option<&dyn Stepwise<f32>> {
        None
    }

    /// The same in f64.
    fn stepwise_exact(&self) -> Option<&dyn Stepwise<f64>> {
        None
    }
}

/// A built model: its architecture, its parameters' layout and its computation.
pub struct Network {
    architecture: Architecture,
    layout: Arc<Layout>,
    model: Box<dyn Model>,
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Network").field("architecture", &self.architecture).finish_non_exhaustive()
    }
}

impl Network {
    /// Builds the model that `architecture` describes.
    ///
    /// # Errors
    /// No such family, an unknown option, a size that the family cannot have, or more parameters than are meant.
    pub fn build(architecture: Architecture) -> Result<Self, ModelError> {
        let family = families::find(&architecture.family)?;
        architecture.check(family.options)?;
        let mut declarations = Declarations::default();
        let model = (family.build)(&architecture, &mut declarations.root())?;
        let layout = Layout::new(declarations).ok_or_else(|| {
            let (family, size) = (&architecture.family, architecture.size);
            ModelError::Architecture(format!("{family} {size} would have more than {} parameters", Layout::MOST))
        })?;
        Ok(Network { architecture, layout: Arc::new(layout), model })
    }

    /// What it was built from.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// Its parameters.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// Fresh weights; equal seeds give equal bits.
    pub fn initial_weights(&self, seed: u64) -> Weights {
        Weights::initial(self.layout.clone(), seed)
    }

    /// The model reading token after token; `None` if it must see all tokens at once.
    pub fn stepwise(&self) -> Option<&dyn Stepwise<f32>> {
        self.model.stepwise()
    }

    /// The same in f64: the truth that the other forms are held to.
    pub fn stepwise_exact(&self) -> Option<&dyn Stepwise<f64>> {
        self.model.stepwise_exact()
    }

    /// Logits [batch, time, 1878].
    pub fn logits(&self, pass: &Pass, tokens: &Tokens) -> Tensor<3> {
        self.flat_logits(pass, tokens).reshape([tokens.batch(), tokens.time(), LOGITS])
    }

    /// Logits with batch and time as one axis: [batch * time, 1878].
    pub fn flat_logits(&self, pass: &Pass, tokens: &Tokens) -> Tensor<2> {
        self.model.forward(pass, tokens)
    }
}
