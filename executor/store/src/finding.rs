//! What a check finds wrong, and the quarantine that it is moved to.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use serde::Serialize;

use super::Store;
use cwm_core::FileErrorKind;
use cwm_core::files::Result;

/// Something that is wrong in a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Where.
    pub path: PathBuf,
    /// What is wrong, in words that follow the path.
    pub what: String,
    /// Where it was moved to. Nothing for what is not there or may stay, and on a store that cannot be written.
    pub quarantined: Option<PathBuf>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path.display(), self.what)?;
        match &self.quarantined {
            Some(place) => write!(f, "; moved to {}", place.display()),
            None => Ok(()),
        }
    }
}

impl Finding {
    /// Creates a finding about something that stays where it is.
    pub fn about(path: PathBuf, what: impl Into<String>) -> Finding {
        Finding { path, what: what.into(), quarantined: None }
    }
}

impl Store {
    /// Moves something damaged to the quarantine, if the store can be written.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn set_aside(&self, path: PathBuf, what: String) -> Result<Finding> {
        let inside = path.strip_prefix(self.root()).unwrap_or(&path);
        let name: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
        let quarantine = self.layout.quarantine();
        let base = name.join("-");
        // Something of that name may have been set aside before.
        let place = (0u32..)
            .map(|count| quarantine.join(if count == 0 { base.clone() } else { format!("{base}-{count}") }))
            .find(|place| fs::symlink_metadata(place).is_err())
            .unwrap_or_else(|| quarantine.join(&base));
        let moved = self.disk.make_folders(&quarantine).and_then(|()| self.disk.place(&path, &place));
        match moved.and_then(|()| self.disk.sync_folder(&quarantine)) {
            Ok(()) => Ok(Finding { path, what, quarantined: Some(place) }),
            Err(error) if error.trouble() == FileErrorKind::ReadOnly => Ok(Finding { path, what, quarantined: None }),
            Err(error) => Err(error),
        }
    }
}
