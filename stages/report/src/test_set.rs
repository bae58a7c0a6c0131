//! Which games a score is about.

use std::fmt;

/// A test set, ordered as in the paper: held-out games, random-uniform games, then all others by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TestSet {
    /// Games of the same kind as those trained on.
    HeldOut,
    /// Uniformly random legal play.
    RandomUniform,
    /// Anything else, by the name that the pipeline gives it.
    Other(String),
}

impl TestSet {
    /// The two that the paper has.
    pub(crate) const PAPER: [TestSet; 2] = [TestSet::HeldOut, TestSet::RandomUniform];

    /// From the `test` column of the bins.
    pub(crate) fn from_name(name: &str) -> Self {
        match name {
            "held_out" => TestSet::HeldOut,
            "random_uniform" => TestSet::RandomUniform,
            other => TestSet::Other(other.to_owned()),
        }
    }

    /// The name as in the `test` column.
    pub(crate) fn name(&self) -> &str {
        match self {
            TestSet::HeldOut => "held_out",
            TestSet::RandomUniform => "random_uniform",
            TestSet::Other(name) => name,
        }
    }
}

/// For headings.
impl fmt::Display for TestSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TestSet::HeldOut => "Held-out games",
            TestSet::RandomUniform => "Random-uniform games",
            TestSet::Other(name) => name,
        })
    }
}
