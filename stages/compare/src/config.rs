//! Parameters of `compare`.

use cwm_contract::{ParameterError, Type, parameters};

parameters! {
    /// Parameters of `compare`.
    pub struct Config {
        /// Models that are compared. `baseline`: each with that of the family `baseline` of its own size. `all`: every
        /// two that were scored on one test set, whatever their sizes.
        pub pairs: String = "baseline".into(), kind = Type::Choice(&["baseline", "all"]),
        /// Family that the others are compared with, each with that of its own size.
        pub baseline: String = "transformer".into(),
        /// `lower`: the stage fails unless the loss of every model is lower than the baseline's and the whole interval
        /// is below 0. `nothing`: it only reports.
        pub expect: String = "nothing".into(), kind = Type::Choice(&["nothing", "lower"]),
        /// Share of resamples within the interval.
        pub confidence: f64 = 0.95,
        /// Number of bootstrap resamples for the intervals, and of random exchanges of the two models for the
        /// probability.
        pub resamples: u64 = 10_000, kind = Type::Integer { min: 100, max: 1_000_000 },
        /// Seed of the draws.
        pub seed: u64 = 0,
    }
}

impl Config {
    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut faults = Vec::new();
        if !cwm_bootstrap::is_fraction(self.confidence) {
            faults.push(ParameterError::new("confidence", "must be between 0 and 1"));
        }
        if self.is_all_pairs() && self.expect == "lower" {
            faults.push(ParameterError::new("expect", "must be `nothing` with `pairs: all`, which names no baseline"));
        }
        faults
    }

    /// Returns true if every two models are compared.
    pub fn is_all_pairs(&self) -> bool {
        self.pairs == "all"
    }
}
