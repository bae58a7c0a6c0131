//! The options of the family and what they say.

use crate::architecture::{OptionSpec, OptionValues};
use crate::ops::attention::Mask;
use crate::{Architecture, ModelError, Size};

/// All options.
pub const ALL: &[OptionSpec] = &[MASK, BIAS, GELU, TIED, HEADS, POSITIONS];

const MASK: OptionSpec = OptionSpec {
    name: "mask",
    values: OptionValues::Choice(&["causal", "none"]),
    doc: "The tokens that a token sees: `causal`, those up to itself (the default), or `none`, all of its sequence.",
};

const BIAS: OptionSpec = OptionSpec {
    name: "bias",
    values: OptionValues::Choice(&["false", "true"]),
    doc: "Whether norms and matrices of the blocks have a bias; by default `false`. The head has none.",
};

const GELU: OptionSpec = OptionSpec {
    name: "gelu",
    values: OptionValues::Choice(&["erf", "tanh"]),
    doc: "The GELU of the MLP: the exact one, `erf` (the default), or its approximation by `tanh`.",
};

const TIED: OptionSpec = OptionSpec {
    name: "tied",
    values: OptionValues::Choice(&["false", "true"]),
    doc: "Whether the head is the table of tokens, whose first rows are the outputs; by default `false`, a matrix of \
          its own.",
};

const HEADS: OptionSpec = OptionSpec {
    name: "heads",
    values: OptionValues::Count,
    doc: "Number of attention heads; by default one for each 64 channels from a width of 512 on, one for each 32 below, \
          at least one.",
};

const POSITIONS: OptionSpec = OptionSpec {
    name: "positions",
    values: OptionValues::Count,
    doc: "Number of learnt positions, the longest sequence that can be read; by default 1024.",
};

/// Positions, if no option says how many.
const USUAL_POSITIONS: usize = 1024;

/// Width from which on heads have 64 channels.
const WIDE: usize = 512;

/// The options as the blocks need them.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub mask: Mask,
    pub has_bias: bool,
    /// The MLP has the approximation by tanh.
    pub is_tanh: bool,
    pub is_tied: bool,
    pub heads: usize,
    pub head_width: usize,
    pub positions: usize,
}

impl Settings {
    /// Reads the options of an architecture, which have been checked.
    ///
    /// # Errors
    /// The width does not divide among the heads.
    pub fn read(architecture: &Architecture) -> Result<Self, ModelError> {
        let heads = architecture.count(&HEADS).unwrap_or_else(|| usual_heads(architecture.size));
        let is = |option: &OptionSpec, word: &str| architecture.word(option) == word;
        Ok(Settings {
            mask: if is(&MASK, "none") { Mask::None } else { Mask::Causal },
            has_bias: is(&BIAS, "true"),
            is_tanh: is(&GELU, "tanh"),
            is_tied: is(&TIED, "true"),
            heads,
            head_width: architecture.size.divided_by(heads)?,
            positions: architecture.count(&POSITIONS).unwrap_or(USUAL_POSITIONS),
        })
    }
}

/// Heads, if no option says how many.
fn usual_heads(size: Size) -> usize {
    let channels = if size.width < WIDE { 32 } else { 64 };
    (size.width / channels).max(1)
}
