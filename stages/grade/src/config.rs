//! Parameters of `grade`.

use std::collections::BTreeMap;

use cwm_answers::is_cost;
use cwm_contract::{ParameterError, Type, parameters};
use cwm_questions::UnknownTasks;

/// What can have a price.
const PRICED: [&str; 3] = ["input", "output", "reasoning"];

parameters! {
    /// Parameters of `grade`.
    pub struct Config {
        /// Prices by the name of a run, in dollars per million tokens: `{ input: 1.25, output: 10 }`, and `reasoning` where that
        /// differs from `output`. They count where an answer has no cost by the server's own count.
        pub prices: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new(),
        /// Number of bootstrap resamples for the intervals.
        pub resamples: u64 = 1_000, kind = Type::Integer { min: 100, max: 1_000_000 },
        /// Seed of the draws.
        pub seed: u64 = 0,
        /// An item of a task that is not known: `fail`, or judged by its `key` and answer type alone.
        pub unknown: String = "fail".into(), kind = Type::Choice(&["fail", "key"]),
    }
}

impl Config {
    /// Returns the faults of these values beyond their types.
    pub fn faults(&self) -> Vec<ParameterError> {
        let fault = |message: String| ParameterError::new("prices", message);
        let mut faults = Vec::new();
        for (run, prices) in &self.prices {
            if let Some(name) = prices.keys().find(|name| !PRICED.contains(&name.as_str())) {
                faults.push(fault(format!("of {run} has `{name}`; prices are of {}", PRICED.join(", "))));
            }
            if let Some(name) = PRICED[..2].iter().find(|name| !prices.contains_key(**name)) {
                faults.push(fault(format!("of {run} lacks `{name}`")));
            }
            if let Some((name, price)) = prices.iter().find(|(_, price)| !is_cost(**price)) {
                faults.push(fault(format!("of {run} has the {name} {price}, which is no price")));
            }
        }
        faults
    }

    /// What to do with an item of a task that is not known.
    pub fn unknown_tasks(&self) -> UnknownTasks {
        if self.unknown == "key" { UnknownTasks::Keep } else { UnknownTasks::Fail }
    }
}
