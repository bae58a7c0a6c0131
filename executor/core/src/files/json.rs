//! Files of JSON.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::error::{FileError, Result};

/// Returns the content of a file at `path` that holds `value`.
pub fn to_json<T: Serialize>(path: &Path, value: &T) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|error| FileError::io("write", path)(error.into()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Parses `bytes`, the content of `path`, whose `format` is at most `known`. `what` owns the format: `an action record`.
///
/// # Errors
/// They are damaged, or a newer cwm wrote them.
pub fn from_json<T: DeserializeOwned>(
    path: &Path,
    bytes: &[u8],
    what: &'static str,
    known: u32,
    format: impl Fn(&T) -> u32,
) -> Result<T> {
    #[derive(Deserialize)]
    struct Version {
        format: u64,
    }
    let parsed = serde_json::from_slice::<T>(bytes);
    let found = match &parsed {
        Ok(value) => u64::from(format(value)),
        // A newer version may miss fields of this one.
        Err(_) => serde_json::from_slice(bytes).map_or(0, |Version { format }| format),
    };
    if found > u64::from(known) {
        return Err(FileError::TooNew { path: path.to_owned(), what, found, known });
    }
    parsed.map_err(|error| FileError::damaged(path, error.to_string()))
}
