//! What `report` takes.

use cwm_contract::parameters;

parameters! {
    /// The parameters of `report`.
    pub struct Config {
        /// Heading of the page.
        pub title: String = "Chess-World-Model".into(),
    }
}
