//! Parameters of `select`.

use std::collections::BTreeMap;

use cwm_contract::{ParameterError, Value, parameters};

use crate::scalar::Scalar;

/// Choices made by hand: by family, then size.
pub type Overrides = BTreeMap<String, BTreeMap<String, BTreeMap<String, Value>>>;

parameters! {
    /// Parameters of `select`.
    pub struct Config {
        /// Family that the choice is for; by default that of the trainings.
        pub family: Option<String> = None,
        /// Family of the trainings, if it is another one: an ablation uses the choice of its parent.
        pub parent: Option<String> = None,
        /// Size of the choice and of the trainings; by default that of the trainings.
        pub size: Option<String> = None,
        /// The hyper-parameters that are chosen, by their names in `train`.
        pub parameters: Vec<String> =
            ["lr", "warmup", "beta2", "weight_decay"].map(str::to_owned).into(),
        /// Choices made by hand, by family and size: `{ rank: 2 }` is the second best, `{ lr: 1e-3, beta2: 0.99 }` the
        /// best of the trainings that have these values. Without trainings, such parameters are the choice.
        pub overrides: Overrides = Overrides::new(),
    }
}

/// The entry of an override that counts from the best.
pub const RANK: &str = "rank";

impl Config {
    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut faults = Vec::new();
        let twice = |name: &&String| self.parameters.iter().filter(|other| other == name).count() > 1;
        if self.parameters.is_empty() {
            faults.push(ParameterError::new("parameters", "must name at least one"));
        } else if let Some(name) = self.parameters.iter().find(twice) {
            faults.push(ParameterError::new("parameters", format!("must name `{name}` once")));
        }
        if self.parent.is_some() && self.family.is_none() {
            faults.push(ParameterError::new(
                "parent",
                "must not be given without `family`, the one that the choice is for",
            ));
        }
        for (family, sizes) in &self.overrides {
            for (size, chosen) in sizes {
                if let Some(message) = wrong(chosen) {
                    faults.push(ParameterError::new("overrides", format!("must give {family} {size} {message}")));
                }
            }
        }
        faults
    }
}

/// Returns the keys that an override must have instead, as a phrase; `None` if it is right.
fn wrong(chosen: &BTreeMap<String, Value>) -> Option<String> {
    match chosen.get(RANK) {
        Some(Value::Int(1..)) if chosen.len() == 1 => None,
        Some(_) => Some("a `rank` from 1 alone, or parameters".to_owned()),
        None if chosen.is_empty() => Some("a `rank`, or parameters".to_owned()),
        None => {
            let (name, value) = chosen.iter().find(|(_, value)| Scalar::of(value).is_none())?;
            Some(format!("a finite number, text or boolean as `{name}`, not {}", value.kind()))
        }
    }
}
