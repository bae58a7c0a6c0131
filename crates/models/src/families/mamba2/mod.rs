//! Mamba-2 (Dao and Gu 2024) as the authors' code has it (models.md §5 and §6).

mod gated_norm;
mod mixer;
mod scan;

use super::Family;
use crate::architecture::{OptionSpec, OptionValues};
use crate::layers::mamba::{self, MambaStack, MixerSize};
use mixer::Mamba2;

pub const FAMILY: Family = Family {
    name: "mamba2",
    part: "mamba2",
    description: "selective state spaces with one decay a head, behind a short convolution",
    options: &[HEAD_WIDTH, STATE],
    head: mamba::HEAD,
    build: |architecture, scope| {
        let head_width = architecture.count(&HEAD_WIDTH).unwrap_or(64);
        let size = MixerSize::new(architecture.size, head_width, architecture.count(&STATE).unwrap_or(128))?;
        let layers = architecture.size.layers;
        Ok(Box::new(MambaStack::declare(architecture, scope, |scope| Mamba2::declare(scope, size, layers))))
    },
};

const HEAD_WIDTH: OptionSpec = OptionSpec {
    name: "head_width",
    values: OptionValues::Count,
    doc: "Channels of a head, 64 by default; there are twice the model's width in all.",
};

const STATE: OptionSpec = OptionSpec {
    name: "state",
    values: OptionValues::Count,
    doc: "Size of a head's state for each of its channels, 128 by default.",
};
