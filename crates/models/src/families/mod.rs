//! The registry of model families.
//!
//! A new family is one file or folder beside this one, one `mod` line and one line in [`FAMILIES`]. Nothing else here
//! names a family, and no family imports another: the code fingerprint hashes each by itself, so that a new family
//! reruns no training of another. docs/new-family.md goes through it step by step.

use crate::architecture::OptionSpec;
use crate::parameters::Scope;
use crate::{Architecture, Backbone, HeadInit, ModelError};

#[cfg(test)]
#[path = "../../../../examples/new-family/elman.rs"]
mod elman;
mod gated_deltanet;
mod gpt;
mod mamba2;
mod mamba3;
mod slice;
mod transformer;

/// A family of models.
pub struct Family {
    /// Its name in pipelines, checkpoints and tables.
    pub name: &'static str,
    /// The file or folder beside this one that holds it: the part of the code that its results rest on.
    pub part: &'static str,
    /// The family in one sentence.
    pub description: &'static str,
    /// Its own options.
    pub options: &'static [OptionSpec],
    /// The initial distribution of the head of its models.
    pub head: HeadInit,
    /// Declares the parameters of the blocks and returns their computation; the options have been checked against
    /// `options`.
    pub build: fn(&Architecture, &mut Scope<'_>) -> Result<Box<dyn Backbone>, ModelError>,
}

/// All families; in tests also the worked example of docs/new-family.md, so that laws of families hold of
/// it too.
pub static FAMILIES: &[Family] = &[
    #[cfg(test)]
    elman::FAMILY,
    transformer::FAMILY,
    slice::BLOCKS,
    slice::DIAGONAL,
    mamba2::FAMILY,
    mamba3::SISO,
    mamba3::MIMO,
    gated_deltanet::NEGATIVE,
    gated_deltanet::POSITIVE,
    gpt::FAMILY,
];

/// The family of this name.
///
/// # Errors
/// There is none; the error names all.
pub fn find(name: &str) -> Result<&'static Family, ModelError> {
    FAMILIES.iter().find(|family| family.name == name).ok_or_else(|| ModelError::UnknownFamily {
        name: name.to_owned(),
        known: FAMILIES.iter().map(|family| family.name).collect(),
    })
}
