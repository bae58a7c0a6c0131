//! The models that are compared.

use cwm_contract::Label;
use cwm_scores::ScoredModel;

/// The properties that runs of one model on one test set share: all but the seed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Model {
    /// Name of the test set.
    pub test: String,
    /// Size, such as `d128/l1`.
    pub size: String,
    /// Coordinates of the label beyond family, size, seed and test, as `axis=value`.
    pub variant: String,
    /// Family, such as `transformer`.
    pub family: String,
}

impl Model {
    /// The model that `scored` describes, with the other coordinates of the label.
    pub fn new(label: &Label, scored: ScoredModel) -> Self {
        let own = |axis: &str| matches!(axis, "family" | "size" | "seed" | "test");
        let mut others: Vec<_> = label.coordinates.iter().filter(|(axis, _)| !own(axis)).collect();
        others.sort();
        let variant = others.iter().map(|(axis, value)| format!("{axis}={value}")).collect::<Vec<_>>().join(",");
        Model { test: scored.test, size: scored.size, variant, family: scored.family }
    }

    /// The name in messages: `slice d64/l1`.
    pub fn name(&self) -> String {
        match self.variant.as_str() {
            "" => format!("{} {}", self.family, self.size),
            variant => format!("{} {} ({variant})", self.family, self.size),
        }
    }
}
