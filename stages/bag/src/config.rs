//! Parameters of `bag`.

use cwm_contract::{Type, parameters};

parameters! {
    /// The records to read, and the treatment of faulty ones.
    pub struct Config {
        /// The content of a record: a position and its `best_move`, or a position, a move and its win probability
        /// (`action_value`). The latter are collected by position, in memory.
        pub records: String = "best_move".into(), kind = Type::Choice(&["best_move", "action_value"]),
        /// Stop after so many kept records.
        pub limit: Option<u64> = None,
        /// Treatment of a record that is faulty: fail, or leave it out.
        pub on_error: String = "fail".into(), kind = Type::Choice(&["fail", "drop"]),
    }
}

impl Config {
    /// True if records have win probabilities.
    pub fn has_values(&self) -> bool {
        self.records == "action_value"
    }

    /// Parameters without effect with these values: results from before `records` existed keep their keys.
    pub fn unused_parameters(&self) -> Vec<&'static str> {
        if self.has_values() { Vec::new() } else { vec!["records"] }
    }
}
