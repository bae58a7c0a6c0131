//! The changes that are planted.

use std::error::Error;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::rounds::matches;

/// One change of the sources.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Its effect on results, in a few words.
    pub name: String,
    /// The file, from the root of the sources.
    pub file: String,
    /// Text that stands in it exactly once.
    pub old: String,
    /// The text that replaces it.
    pub new: String,
    /// Patterns of the names of probes that must differ, at least one of each: `train-*/own/*`. A harmless change has
    /// none.
    pub tells: Vec<String>,
    /// Patterns of those that may differ as well; no other may.
    #[serde(default)]
    pub may: Vec<String>,
}

/// Reads the list.
pub fn read(path: &Path) -> Result<Vec<Change>, Box<dyn Error>> {
    Ok(serde_yaml::from_str(&fs::read_to_string(path)?)?)
}

impl Change {
    /// Returns true if it should change nothing.
    pub fn is_harmless(&self) -> bool {
        self.tells.is_empty()
    }

    /// Returns true if the probe of this name may differ because of it.
    pub fn may_show_in(&self, name: &str) -> bool {
        self.tells.iter().chain(&self.may).any(|pattern| matches(name, pattern))
    }

    /// Plants it into the sources at `root`.
    pub fn plant(&self, root: &Path) -> Result<(), Box<dyn Error>> {
        let path = root.join(&self.file);
        let text = fs::read_to_string(&path)?;
        let count = text.matches(&self.old).count();
        if count != 1 {
            return Err(format!("{}: `{}` is {count} times in {}, not once", self.name, self.old, self.file).into());
        }
        fs::write(path, text.replacen(&self.old, &self.new, 1))?;
        Ok(())
    }
}
