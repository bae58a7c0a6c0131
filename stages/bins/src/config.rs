//! What `bins` takes.

use cwm_contract::{Type, parameters};

parameters! {
    /// The parameters of `bins`.
    pub struct Config {
        /// Steps in a prefix bin; the paper has 20 (Appendix B.1). Step 0 is the START position.
        pub bin_width: u32 = 20, kind = Type::Integer { min: 1, max: 1_000_000 },
    }
}
