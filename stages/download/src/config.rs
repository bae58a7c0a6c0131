//! What `download` takes.

use cwm_contract::{Fault, Parameters, SourceLocation, Values, parameters};

use crate::checksum::Checksum;

parameters! {
    /// Parameters of `download`.
    pub struct Config {
        /// The file, or the `http://` or `https://` URL it is at.
        pub source: SourceLocation,
        /// The SHA-256 that the bytes must have, as 64 hexadecimal digits. With it the result is known by that sum,
        /// wherever it comes from; without it a URL is fetched once and trusted.
        pub sha256: Option<String> = None,
    }
}

impl Config {
    /// The expected sum, if one is given.
    ///
    /// # Errors
    /// It is not 64 hexadecimal digits.
    pub fn checksum(&self) -> Result<Option<Checksum>, Fault> {
        let read = |text: &String| Checksum::parse(text).map_err(|message| Fault::new("sha256", message));
        self.sha256.as_ref().map(read).transpose()
    }
}

/// What is wrong with well-typed parameters: a sum that is none.
pub fn faults(values: &Values) -> Vec<Fault> {
    match Config::read(values).and_then(|config| config.checksum()) {
        Ok(_) => Vec::new(),
        Err(fault) => vec![fault],
    }
}
