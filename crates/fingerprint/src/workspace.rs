//! The crates of a workspace and the uses between them, from the manifests alone.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::lock::Lock;
use crate::manifest::{self, Dependency, Inheritance, Manifest};
use crate::{EXCLUDED, Error};

/// Everything that is read before any source file is.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) lock: Lock,
    /// By folder, relative to the root; the root package is the empty one.
    crates: BTreeMap<String, Manifest>,
    /// Folders of packages that replace published ones (`[patch]`), by package name.
    patches: BTreeMap<String, String>,
}

/// A package whose files enter a fingerprint.
pub(crate) struct HashedPackage {
    pub(crate) name: String,
    /// Relative to the root.
    pub(crate) folder: String,
}

impl Workspace {
    pub(crate) fn read(root: &Path) -> Result<Self, Error> {
        let table = manifest::read_table(&root.join("Cargo.toml"))?;
        let inheritance = Inheritance::of(&table);
        let mut crates: BTreeMap<String, Manifest> = BTreeMap::new();
        let mut waiting = stage_folders(root)?;
        if table.contains_key("package") {
            waiting.push(String::new());
        }
        while let Some(folder) = waiting.pop() {
            if let Entry::Vacant(place) = crates.entry(folder) {
                let manifest = Manifest::read(root, place.key(), &inheritance)?;
                waiting.extend(manifest.dependencies.iter().filter_map(|dependency| dependency.folder.clone()));
                place.insert(manifest);
            }
        }
        let lock = Lock::read(&root.join("Cargo.lock"))?;
        Ok(Workspace { root: root.to_owned(), lock, crates, patches: patches(&table) })
    }

    /// The folders of the stage crates.
    pub(crate) fn stage_folders(&self) -> impl Iterator<Item = &str> {
        self.crates.keys().map(String::as_str).filter(|folder| folder.starts_with("stages/"))
    }

    /// The manifest of the crate at `folder`, unless that is a patch.
    pub(crate) fn manifest(&self, folder: &str) -> Option<&Manifest> {
        self.crates.get(folder)
    }

    /// The stage at `folder` and all that it uses of this workspace, patched packages included.
    pub(crate) fn hashed_packages(&self, folder: &str) -> Result<Vec<HashedPackage>, Error> {
        let mut folders = BTreeSet::new();
        let mut waiting = vec![folder];
        let mut patched = BTreeSet::new();
        while let Some(folder) = waiting.pop() {
            let manifest = &self.crates[folder];
            if manifest.name == EXCLUDED || !folders.insert(folder) {
                continue;
            }
            for dependency in &manifest.dependencies {
                match &dependency.folder {
                    Some(folder) => waiting.push(folder),
                    None => patched.extend(
                        self.lock.local_below(self.lock.resolved_packages(&manifest.name, &dependency.package)),
                    ),
                }
            }
        }
        let mut hashed: Vec<HashedPackage> = folders
            .into_iter()
            .map(|folder| HashedPackage { name: self.crates[folder].name.clone(), folder: folder.to_owned() })
            .collect();
        for name in patched {
            let folder = self.patches.get(name).ok_or_else(|| {
                let problem = format!("`{name}` has no source here, and no `[patch]` of Cargo.toml says where it lies");
                Error::new(&self.root.join("Cargo.lock"), problem)
            })?;
            hashed.push(HashedPackage { name: name.to_owned(), folder: folder.clone() });
        }
        Ok(hashed)
    }

    /// The active features of every crate, by folder, when the root package is built with `features`. Optional
    /// dependencies count as used.
    pub(crate) fn active_features(&self, features: &BTreeSet<String>) -> BTreeMap<String, BTreeSet<String>> {
        let mut waiting: Vec<(&str, String)> = features.iter().map(|feature| ("", feature.clone())).collect();
        for dependency in self.crates.values().flat_map(|manifest| &manifest.dependencies) {
            let Some(folder) = &dependency.folder else { continue };
            waiting.extend(dependency.features.iter().map(|feature| (folder.as_str(), feature.clone())));
            if dependency.default_features {
                waiting.push((folder, "default".to_owned()));
            }
        }
        let mut active: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        while let Some((folder, feature)) = waiting.pop() {
            if !active.entry(folder.to_owned()).or_default().insert(feature.clone()) {
                continue;
            }
            let Some(manifest) = self.crates.get(folder) else { continue };
            for implied in manifest.features.get(&feature).into_iter().flatten() {
                match implied.split_once('/') {
                    Some((alias, feature)) => {
                        let alias = alias.trim_end_matches('?');
                        let below = manifest.dependencies.iter().filter(|d: &&Dependency| d.alias == alias);
                        let below = below.filter_map(|dependency| dependency.folder.as_deref());
                        waiting.extend(below.map(|folder| (folder, feature.to_owned())));
                    }
                    None if implied.starts_with("dep:") => {}
                    None => waiting.push((folder, implied.clone())),
                }
            }
        }
        active
    }
}

/// The folders under `stages/` that hold a crate, relative to the root.
fn stage_folders(root: &Path) -> Result<Vec<String>, Error> {
    let stages = root.join("stages");
    let mut folders = Vec::new();
    for entry in fs::read_dir(&stages).map_err(|error| Error::new(&stages, error))? {
        let entry = entry.map_err(|error| Error::new(&stages, error))?;
        let Ok(name) = entry.file_name().into_string() else {
            return Err(Error::new(&entry.path(), "its name is not UTF-8"));
        };
        if entry.path().join("Cargo.toml").is_file() {
            folders.push(format!("stages/{name}"));
        }
    }
    Ok(folders)
}

/// `[patch.REGISTRY] alias = { path = "…", package = "…" }`, by package name.
fn patches(root: &Table) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (_, registry) in root.get("patch").and_then(Value::as_table).into_iter().flatten() {
        for (alias, value) in registry.as_table().into_iter().flatten() {
            let Some(table) = value.as_table() else { continue };
            if let Some(path) = manifest::text(table, "path") {
                let name = manifest::text(table, "package").unwrap_or_else(|| alias.clone());
                found.insert(name, manifest::resolve("", &path));
            }
        }
    }
    found
}
