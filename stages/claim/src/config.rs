//! Parameters of `claim`.

use cwm_contract::{ParameterError, Type, parameters};

use crate::claim::Claim;

parameters! {
    /// Parameters of `claim`.
    pub struct Config {
        /// What is claimed, such as `board/none.legal > moves/causal.legal from ply 40`: an arm's measure is larger than
        /// another's. Measures: valid, legal, best, forced_valid, forced_legal, forced_best, loss, mask_best, mask_loss.
        pub expect: Vec<String>,
        /// Number of bootstrap resamples for the intervals.
        pub resamples: u64 = 1_000, kind = Type::Integer { min: 100, max: 1_000_000 },
        /// Seed of the draws.
        pub seed: u64 = 0,
    }
}

impl Config {
    /// The claims.
    ///
    /// # Errors
    /// One is not of the form above, as a phrase.
    pub fn claims(&self) -> Result<Vec<Claim>, String> {
        self.expect.iter().map(|text| text.parse()).collect()
    }

    /// Returns the faults of these values beyond their types.
    pub fn faults(&self) -> Vec<ParameterError> {
        let fault = match self.claims() {
            Ok(claims) if claims.is_empty() => Some("must have at least one claim".to_owned()),
            Ok(_) => None,
            Err(fault) => Some(fault),
        };
        fault.map(|fault| ParameterError::new("expect", fault)).into_iter().collect()
    }
}
