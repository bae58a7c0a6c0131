//! What cwm itself writes beside a pipeline: a glob that took it in would find something new after every run.

use std::collections::BTreeSet;
use std::path::Path;

/// Files beside a pipeline that runs write, whatever its name.
const BESIDE: [&str; 2] = ["sources.lock", "accepted.lock"];

/// Begins the names of files that are being written.
const UNFINISHED: &str = ".cwm-";

/// The list in a folder of what was exported there.
const EXPORTED: &str = ".cwm-export";

/// Whether this folder is a store, or as a whole something that was exported.
pub fn is_own_folder(folder: &Path) -> bool {
    let is_store =
        folder.join("format").is_file() && ["objects", "actions"].iter().all(|name| folder.join(name).is_dir());
    is_store || exported(folder).is_some_and(|(whole, _)| whole)
}

/// The names in this folder that are files of cwm's: locks, what was exported, and what is being written.
pub fn own_files(folder: &Path, names: &BTreeSet<String>) -> BTreeSet<String> {
    let exported = match names.contains(EXPORTED) {
        true => exported(folder).map(|(_, files)| files).unwrap_or_default(),
        false => BTreeSet::new(),
    };
    let is_lock = |name: &str| {
        let stem = name.strip_suffix(".lock");
        let has_pipeline = |stem| [".yaml", ".yml"].iter().any(|end| names.contains(&format!("{stem}{end}")));
        BESIDE.contains(&name) || stem.is_some_and(has_pipeline)
    };
    let is_own = |name: &&String| name.starts_with(UNFINISHED) || is_lock(name) || exported.contains(*name);
    names.iter().filter(is_own).cloned().collect()
}

/// What was exported into this folder: whether all of it is one export, and the files, by name.
fn exported(folder: &Path) -> Option<(bool, BTreeSet<String>)> {
    #[derive(serde::Deserialize)]
    struct List {
        whole: bool,
        files: std::collections::BTreeMap<String, serde::de::IgnoredAny>,
    }
    let bytes = crate::plain_file::read_plain(&folder.join(EXPORTED)).ok()?;
    let List { whole, files } = serde_json::from_slice(&bytes).ok()?;
    Some((whole, files.into_keys().collect()))
}
