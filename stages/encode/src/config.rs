//! Parameters of `encode`.

use cwm_contract::{ParameterError, parameters};

use crate::forms;

parameters! {
    /// What is written.
    pub struct Config {
        /// Form of the sequences: `board`, `prompt`, `characters` or `moves`.
        pub form: String,
    }
}

impl Config {
    /// Returns the faults of these values beyond their types.
    pub fn faults(&self) -> Vec<ParameterError> {
        forms::find(&self.form).err().map(|unknown| ParameterError::new("form", unknown)).into_iter().collect()
    }
}
