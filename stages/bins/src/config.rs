//! Parameters of `bins`.

use cwm_contract::{Type, parameters};

parameters! {
    /// The parameters of `bins`.
    pub struct Config {
        /// Steps in a prefix bin; the paper has 20 (Appendix B.1). Step 0 is the START position.
        pub bin_width: u32 = 20, kind = Type::Integer { min: 1, max: 1_000_000 },
        /// Number of bootstrap resamples for the intervals. Each draws as many games as there are, with replacement.
        pub resamples: u64 = 1_000, kind = Type::Integer { min: 100, max: 100_000 },
        /// Seed of the draws.
        pub seed: u64 = 0,
    }
}
