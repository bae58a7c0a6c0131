//! The folders of a store, and the list that an export leaves in a folder.

use std::collections::BTreeSet;
use std::path::Path;

use super::read_regular_file;

/// Folders that a store consists of; whatever else is in its root is not ours.
pub const STORE_FOLDERS: [&str; 10] =
    ["objects", "trees", "actions", "work", "locks", "temporary", "quarantine", "roots", "tags", "garbage"];

/// Returns true if `folder` is a store, by its folders. A remote has `objects` and `actions` too; a store that lost some of the
/// others is one still.
pub fn is_store(folder: &Path) -> bool {
    let own = STORE_FOLDERS.into_iter().filter(|name| !["objects", "actions"].contains(name));
    folder.join("objects").is_dir() && own.filter(|name| folder.join(name).is_dir()).count() >= 3
}

/// The file in a folder that names what exports put there. JSON, written by the store.
pub const EXPORT_LIST: &str = ".cwm-export";

/// Returns the files that were exported into this folder and below it, by their names from it on; none if the list cannot be
/// read.
pub fn exported_files(folder: &Path) -> BTreeSet<String> {
    let list = read_regular_file(&folder.join(EXPORT_LIST)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let list: serde_json::Value = list.unwrap_or_default();
    let files = list.get("files").and_then(serde_json::Value::as_object);
    files.map(|files| files.keys().cloned().collect()).unwrap_or_default()
}
