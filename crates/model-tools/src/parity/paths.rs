//! The fixture files that paths stand for.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cwm_contract::Failure;

use super::manifest;

/// The files that `paths` name, each once: files as they are, of folders what lies in them and can be compared, by name,
/// and of a manifest what it names.
///
/// # Errors
/// A folder cannot be read or holds nothing that can be compared; a manifest is none.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            found.extend(files_in(path)?);
        } else if is_manifest(path) {
            found.extend(manifest::files(path)?);
        } else {
            found.push(path.clone());
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|path| seen.insert(path.clone()));
    Ok(found)
}

/// The bytes of a file. A pipe or a device is refused: it need not end.
///
/// # Errors
/// It cannot be read.
pub fn contents(path: &Path) -> Result<Vec<u8>, Failure> {
    let unread = |error| Failure::io("read", path, error);
    if !fs::metadata(path).map_err(unread)?.is_file() {
        return Err(Failure::input(format!("{} is no file that could be read to its end", path.display())));
    }
    fs::read(path).map_err(unread)
}

/// Files in a folder of fixtures that are none: masses belong to `mass.safetensors`, and the others hold what stages make of games
/// that the folder does not have.
const NO_FIXTURES: [&str; 4] = [manifest::FILE, "mass.json", "blocks.json", "transpositions.json"];

fn is_manifest(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == manifest::FILE)
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| Failure::io("read the folder", folder, error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let is_known = path.extension().is_some_and(|ending| ending == "safetensors" || ending == "json");
        let is_fixture = !path.file_name().is_some_and(|name| NO_FIXTURES.iter().any(|other| name == *other));
        if is_known && is_fixture && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        let message = format!("{} holds no fixture: no .safetensors or .json file to compare", folder.display());
        return Err(Failure::input(message).hint("name the files, or the folder that they lie in"));
    }
    Ok(files)
}
