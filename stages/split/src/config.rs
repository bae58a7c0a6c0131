//! Parameters of `split`.

use cwm_contract::{ParameterError, parameters};

parameters! {
    /// The number of buckets, and those that are for validation.
    pub struct Config {
        /// Number of buckets.
        pub buckets: u64 = 10_000,
        /// A game is for validation if its bucket is below this: 50 of 10,000 is half a percent.
        pub validation: u64 = 50,
        /// Games in one file of the outputs, at most.
        pub shard_games: u64 = 1_000_000,
    }
}

impl Config {
    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut errors = Vec::new();
        if self.buckets == 0 {
            errors.push(ParameterError::new("buckets", "must be at least 1"));
        } else if self.validation > self.buckets {
            errors.push(ParameterError::new(
                "validation",
                format!("must be at most `buckets`, which is {}", self.buckets),
            ));
        }
        if self.shard_games == 0 {
            errors.push(ParameterError::new("shard_games", "must be at least 1"));
        }
        errors
    }
}
