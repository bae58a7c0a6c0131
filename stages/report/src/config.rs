//! Parameters of `report`.

use cwm_contract::{Type, parameters};

parameters! {
    /// The parameters of `report`.
    pub struct Config {
        /// Heading of the page. Without it, the title of the first chapter.
        pub title: Option<String> = None,
        /// Largest size of the boards on the page, in bytes. Further boards are left out, and the page states how many.
        pub board_bytes: u64 = 1_500_000, kind = Type::Integer { min: 0, max: 1 << 30 },
        /// Largest size of the answers on the page, in bytes, of which runs have equal shares: those to questions that
        /// are not correct, and those of reasoning. Further answers are left out, and the page states how many.
        pub answer_bytes: u64 = 1_500_000, kind = Type::Integer { min: 0, max: 1 << 30 },
    }
}
