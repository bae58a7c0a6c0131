//! Parameters of `compare`.

use cwm_contract::{Fault, Type, parameters};

parameters! {
    /// What `compare` takes.
    pub struct Config {
        /// Family that the others are compared with, each with that of its own size.
        pub baseline: String = "transformer".into(),
        /// `lower`: the stage fails, in words, unless the loss of every model is lower than the baseline's and the
        /// whole interval is below 0. `nothing`: it only tells.
        pub expect: String = "nothing".into(), kind = Type::Choice(&["nothing", "lower"]),
        /// Share of resamples that the interval holds.
        pub confidence: f64 = 0.95,
        /// How often the games are drawn anew, as many as there are, with replacement.
        pub resamples: u64 = 10_000, kind = Type::Integer { min: 100, max: 10_000_000 },
        /// Seed of the draws.
        pub seed: u64 = 0,
    }
}

impl Config {
    /// What is wrong with these values beyond their types.
    pub fn faults(&self) -> Vec<Fault> {
        let inside = self.confidence > 0.0 && self.confidence < 1.0;
        (!inside).then(|| Fault::new("confidence", "must be between 0 and 1")).into_iter().collect()
    }
}
