//! The blocks of a model below its head, as every family builds them.

use burn::tensor::Tensor;

use crate::incremental::Incremental;
use crate::parameters::{Init, Slot};
use crate::streaming::Recurrence;
use crate::{ForwardPass, Tokens};

/// The computation of a family: tokens to hidden states. It holds slots, not values: the same blocks serve training and
/// testing, on any device, under any head.
pub trait Backbone: Send + Sync {
    /// Tokens [batch, time] to the stream after the last block [batch * time, width], sequence by sequence. Rows of padded
    /// steps are finite and mean nothing; padding never changes a real step, and a later token never changes an earlier
    /// one, unless an option says that it shall. It gives the stream to [`ForwardPass::stream`] once after the embedding
    /// (site 0) and once after each block (sites 1 to the number of layers), and continues with the result.
    fn blocks(&self, pass: &ForwardPass, tokens: &Tokens) -> Tensor<2>;

    /// The stream after the last block [rows, width] to what the head reads; the stream itself without a final norm.
    fn final_norm(&self, _pass: &ForwardPass, x: Tensor<2>) -> Tensor<2> {
        x
    }

    /// The largest number of tokens of a sequence that it can read; `None` if there is no limit.
    fn longest(&self) -> Option<usize> {
        None
    }

    /// True if a later token never changes an earlier step.
    fn is_causal(&self) -> bool {
        true
    }

    /// The table [tokens, width] whose rows give the logits too, if the head has no parameters of its own.
    fn tied_table(&self) -> Option<Slot<2>> {
        None
    }

    /// Returns the computation that continues from kept keys and values; `None` if it only makes whole passes.
    fn incremental(&self) -> Option<&dyn Incremental> {
        None
    }

    /// Returns the computation token by token; `None` if it has no state of constant size.
    fn recurrence(&self) -> Option<&dyn Recurrence<f32>> {
        None
    }

    /// Returns [`Backbone::recurrence`] in f64.
    fn recurrence_f64(&self) -> Option<&dyn Recurrence<f64>> {
        None
    }
}

/// The initial distribution of the head of a family's models; a family may depart from PyTorch's default.
#[derive(Clone, Copy, Debug)]
pub struct HeadInit {
    /// Initial weight, from the model's width.
    pub weight: fn(width: usize) -> Init,
    /// Initial bias, likewise; `None` for a head without one.
    pub bias: Option<fn(width: usize) -> Init>,
}

impl HeadInit {
    /// PyTorch's default for a linear layer: uniform within 1/√width for both.
    pub const LINEAR: HeadInit = HeadInit { weight: Init::linear, bias: Some(Init::linear) };
}
