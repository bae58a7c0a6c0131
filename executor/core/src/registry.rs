//! The kinds of stages that a program has, with the fingerprints of their code.

use std::collections::BTreeMap;

use cwm_contract::Stage;

use crate::error::Error;

/// Returns the code that a stage of this kind depends on, as it enters a key: an entry a crate, and one for each of the parts
/// that are selected, or for all parts. It fails if the program has no fingerprint of this kind, or if a selected part does not
/// exist.
pub type CodeOf = fn(kind: &str, selected: Option<&[String]>) -> Result<BTreeMap<String, String>, Error>;

/// Stages by kind.
#[derive(Clone)]
pub struct Registry {
    stages: Vec<&'static dyn Stage>,
    all_kinds: &'static [&'static str],
    /// Returns the fingerprint of the code of a kind of stage.
    pub code_of: CodeOf,
    /// True if stages of this program can compute on GPUs.
    pub has_gpu_support: bool,
}

impl Registry {
    /// Returns the registry of these stages. Of two of one kind the first counts. `all_kinds` are the kinds of a full build,
    /// compiled in or not.
    pub fn new(stages: Vec<&'static dyn Stage>, all_kinds: &'static [&'static str], code_of: CodeOf) -> Self {
        Registry { stages, all_kinds, code_of, has_gpu_support: false }
    }

    /// Returns the stage of this kind.
    pub fn get(&self, kind: &str) -> Option<&'static dyn Stage> {
        self.stages.iter().copied().find(|stage| stage.kind() == kind)
    }

    /// Returns all stages, in the order in which a pipeline usually has them.
    pub fn iter(&self) -> impl Iterator<Item = &'static dyn Stage> {
        self.stages.iter().copied()
    }

    /// Returns true if this kind exists but is not in this build.
    pub fn is_compiled_out(&self, kind: &str) -> bool {
        self.get(kind).is_none() && self.all_kinds.contains(&kind)
    }
}
