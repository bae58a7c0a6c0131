//! Mamba-3 as the authors' code has it (models.md §5 and §7), with one input and output a head (SISO) or several (MIMO).

mod gate;
mod mixer;
mod rates;
mod rotation;
mod scan;
#[cfg(test)]
mod tests;

use super::Family;
use crate::architecture::{OptionSpec, OptionValues};
use crate::layers::mamba::{self, MambaStack, MixerSize};
use crate::parameters::Scope;
use crate::{Architecture, Backbone, ModelError};
use mixer::Mamba3;
use rotation::Pairing;

pub const SISO: Family = Family {
    name: "mamba3",
    part: "mamba3",
    description: "state spaces that turn and decay by the input, written to by the trapezoidal rule",
    options: &[HEAD_WIDTH, STATE],
    head: mamba::HEAD,
    build: |architecture, scope| build(architecture, scope, None),
};

pub const MIMO: Family = Family {
    name: "mamba3_mimo",
    part: "mamba3",
    description: "Mamba-3 with several inputs and outputs a head",
    options: &[HEAD_WIDTH, STATE, RANK],
    head: mamba::HEAD,
    build: |architecture, scope| build(architecture, scope, Some(architecture.count(&RANK).unwrap_or(4))),
};

const HEAD_WIDTH: OptionSpec = OptionSpec {
    name: "head_width",
    values: OptionValues::Count,
    doc: "Channels of a head, 64 by default; there are twice the model's width in all.",
};

const STATE: OptionSpec = OptionSpec {
    name: "state",
    values: OptionValues::Count,
    doc: "Size of a head's state for each of its channels, 128 by default; a multiple of 4, since half of it turns in pairs.",
};

const RANK: OptionSpec = OptionSpec {
    name: "rank",
    values: OptionValues::Count,
    doc: "Inputs and outputs of a head at each step, 4 by default as in the paper's text.",
};

/// Widths of a mixer, and how it pairs channels.
#[derive(Clone, Copy, Debug)]
struct Widths {
    size: MixerSize,
    /// Inputs and outputs of a head.
    ranks: usize,
    pairing: Pairing,
}

impl Widths {
    /// Pairs of channels that turn: half of the state's channels.
    fn angles(&self) -> usize {
        self.size.state / 4
    }

    /// Columns of the rates: step sizes, decays and trapezoid shares of each head, and the speeds of the angles.
    fn rates(&self) -> usize {
        3 * self.size.heads + self.angles()
    }

    /// Columns of all ranks' keys.
    fn keys(&self) -> usize {
        self.ranks * self.size.state
    }

    /// Columns of all ranks' values of a head.
    fn values(&self) -> usize {
        self.ranks * self.size.head_width
    }
}

/// The model; MIMO if `ranks` are given.
fn build(
    architecture: &Architecture,
    scope: &mut Scope<'_>,
    ranks: Option<usize>,
) -> Result<Box<dyn Backbone>, ModelError> {
    let head_width = architecture.count(&HEAD_WIDTH).unwrap_or(64);
    let size = MixerSize::new(architecture.size, head_width, architecture.count(&STATE).unwrap_or(128))?;
    if !size.state.is_multiple_of(4) {
        return Err(ModelError::Architecture(format!(
            "option `state` must be a multiple of 4, not {}: half of the state's channels turn in pairs",
            size.state
        )));
    }
    let pairing = if ranks.is_some() { Pairing::Halves } else { Pairing::Neighbours };
    let widths = Widths { size, ranks: ranks.unwrap_or(1), pairing };
    let layers = architecture.size.layers;
    let mixer = |scope: &mut Scope<'_>| Mamba3::declare(scope, widths, ranks.is_some(), layers);
    Ok(Box::new(MambaStack::declare(architecture, scope, mixer)))
}
