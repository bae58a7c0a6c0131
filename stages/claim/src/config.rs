//! Parameters of `claim`.

use cwm_contract::{ParameterError, Type, parameters};

use crate::claim::Claim;
use crate::measured::NumberClaim;

parameters! {
    /// Parameters of `claim`.
    pub struct Config {
        /// What is claimed, such as `board/none.legal > moves/causal.legal from ply 40`: an arm's measure is larger than
        /// another's. Measures: valid, legal, best, forced_valid, forced_legal, forced_best, loss, mask_best, mask_loss. Or
        /// about findings: `probe.occupied[network=trained] > probe.occupied[network=untrained] + 0.05`, `legality.loss[of=all]
        /// < 2.2`; of several that fit, such as those of all layers, the largest counts.
        pub expect: Vec<String>,
        /// Number of bootstrap resamples for the intervals.
        pub resamples: u64 = 1_000, kind = Type::Integer { min: 100, max: 1_000_000 },
        /// Seed of the draws.
        pub seed: u64 = 0,
    }
}

impl Config {
    /// The claims about choices, and those about findings.
    ///
    /// # Errors
    /// One is not of a form above, as a phrase.
    pub fn claims(&self) -> Result<(Vec<Claim>, Vec<NumberClaim>), String> {
        let (of_findings, of_choices): (Vec<&String>, Vec<&String>) =
            self.expect.iter().partition(|text| NumberClaim::is_meant(text));
        let choices = of_choices.into_iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
        Ok((choices, of_findings.into_iter().map(|text| text.parse()).collect::<Result<_, _>>()?))
    }

    /// Checks that the inputs are given that the claims are about, and no other.
    pub fn check_inputs(&self, given: &[&str]) -> Option<String> {
        let (choices, findings) = self.claims().ok()?;
        [("choices", choices.len()), ("findings", findings.len())].into_iter().find_map(|(input, claims)| {
            match (claims, given.contains(&input)) {
                (0, true) => Some(format!("has the input `{input}`, and no claim is about it")),
                (1.., false) => Some(format!("needs the input `{input}`, which a claim is about")),
                _ => None,
            }
        })
    }

    /// Returns the faults of these values beyond their types.
    pub fn faults(&self) -> Vec<ParameterError> {
        let fault = match self.claims() {
            Ok(_) if self.expect.is_empty() => Some("must have at least one claim".to_owned()),
            Ok(_) => None,
            Err(fault) => Some(fault),
        };
        fault.map(|fault| ParameterError::new("expect", fault)).into_iter().collect()
    }
}
