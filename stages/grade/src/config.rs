//! Parameters of `grade`.

use std::collections::BTreeMap;

use cwm_answers::is_cost;
use cwm_contract::{ParameterError, Type, parameters};
use cwm_questions::UnknownTasks;
use cwm_reasoning::{ClaimRule, ReadingRule, RewardOptions, Scaling};

use crate::judges::Options;

/// The kinds of tokens that can have a price.
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
        /// The rule by which the answer to a graded item is found in a text: `release`, as the published programs do; `lenient`,
        /// every move of the last answer counts, however it is written.
        pub reading: String = "release".into(), kind = Type::Choice(&["release", "lenient"]),
        /// The claims about moves and pieces that are counted in answers to graded items: `none`; `rule`, where a move is true if
        /// it is legal in the item's position; `line`, also if it is after the moves directly before it in the sentence.
        pub claims: String = "rule".into(), kind = Type::Choice(&["none", "rule", "line"]),
        /// A legal move whose scaled value is below this has the reward 0.
        pub cut: f64 = RewardOptions::default().cut,
        /// The scale of the value of a legal move: `normalise`, by where it lies between the least and the greatest;
        /// `linear`, by its place among the legal moves.
        pub scaling: String = "normalise".into(), kind = Type::Choice(&["normalise", "linear"]),
    }
}

impl Config {
    /// Parameters that are in no key with these values: results from before graded items keep their keys.
    pub fn unused_parameters(&self) -> Vec<&'static str> {
        let at_default = [
            ("reading", self.reading == "release"),
            ("claims", self.claims == "rule"),
            ("cut", self.cut == RewardOptions::default().cut),
            ("scaling", self.scaling == "normalise"),
        ];
        at_default.into_iter().filter(|(_, is_default)| *is_default).map(|(name, _)| name).collect()
    }

    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
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
        if !(0.0..=1.0).contains(&self.cut) {
            faults.push(ParameterError::new("cut", "must lie between 0 and 1"));
        }
        faults
    }

    /// The treatment of an item of a task that is not known.
    pub fn unknown_tasks(&self) -> UnknownTasks {
        if self.unknown == "key" { UnknownTasks::Keep } else { UnknownTasks::Fail }
    }

    /// The rules by which answers to graded items are judged.
    pub fn options(&self) -> Options {
        Options {
            reward: RewardOptions {
                reading: ReadingRule::of_name(&self.reading).unwrap_or_default(),
                scaling: Scaling::of_name(&self.scaling).unwrap_or_default(),
                cut: self.cut,
            },
            claims: ClaimRule::of_name(&self.claims),
        }
    }
}
