//! Parameters of `bag`.

use cwm_contract::{Type, parameters};

parameters! {
    /// How much is read, and what becomes of faulty records.
    pub struct Config {
        /// Stop after so many kept records.
        pub limit: Option<u64> = None,
        /// Treatment of a record that is faulty: fail, or leave it out.
        pub on_error: String = "fail".into(), kind = Type::Choice(&["fail", "drop"]),
    }
}
