//! Paths as the file system has them.

use std::path::{Path, PathBuf};

/// Returns a path that is absolute, without links and `..`, as far as it exists. What does not exist is taken as it is written.
pub fn resolve(path: &Path) -> PathBuf {
    // Nothing would be found of a relative path that does not exist.
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = |above: &Path| {
        let (found, rest) = (std::fs::canonicalize(above).ok()?, path.strip_prefix(above).ok()?);
        Some(found.components().chain(rest.components()).collect())
    };
    path.ancestors().find_map(real).unwrap_or_else(|| path.clone())
}
