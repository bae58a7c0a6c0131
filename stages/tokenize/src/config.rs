//! Parameters of `tokenize`.

use cwm_contract::{ParameterError, parameters};

parameters! {
    /// The layout of the datasets.
    pub struct Config {
        /// Games in one file of the outputs, at most.
        pub shard_games: u64 = 1_000_000,
    }
}

impl Config {
    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
        if self.shard_games == 0 { vec![ParameterError::new("shard_games", "must be at least 1")] } else { Vec::new() }
    }
}
