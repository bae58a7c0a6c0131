//! Parameters of `report`.

use cwm_contract::{Type, parameters};

parameters! {
    /// The parameters of `report`.
    pub struct Config {
        /// Heading of the page.
        pub title: String = "Chess-World-Model".into(),
        /// Number of bytes of boards that the page takes; what goes beyond is left out, and the page says so.
        pub board_bytes: u64 = 1_500_000, kind = Type::Integer { min: 0, max: 1 << 30 },
    }
}
