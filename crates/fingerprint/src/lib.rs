//! Digests of the code of stages: equal for code that means the same, different for code that does not.
//!
//! The build script of the root package calls [`fingerprints`] once and keeps the answer in the binary. The rules,
//! and the reasons for them, are in `docs/design/fingerprint.md`. This crate reads files below the workspace's root
//! and nothing else: it does not call cargo, and depends on neither pipelines nor keys.

mod attributes;
mod digest;
mod error;
mod files;
mod lock;
mod manifest;
mod modules;
mod normal;
mod package;
mod registry;
mod tokens;
mod workspace;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::rc::Rc;

pub use error::Error;

/// The one workspace crate that no fingerprint covers: it holds no code that makes output bytes, and its version
/// enters every key instead.
pub const EXCLUDED: &str = "cwm-contract";

/// The code fingerprint of one stage. All digests are BLAKE3, in lower-case hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The code that every run of the stage rests on.
    pub base: String,
    /// The separately hashed parts (model families), by name. A key takes those that the stage's parameters select.
    pub parts: BTreeMap<String, String>,
    /// The digests that `base` is made of, by crate name, so that `why` can say which crate changed.
    pub crates: BTreeMap<String, String>,
}

/// The fingerprints of all stages of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprints {
    /// By the name of the stage's folder under `stages/`.
    pub stages: BTreeMap<String, Fingerprint>,
    /// The paths that they were read from, relative to the workspace's root: crate folders, the root manifest and `Cargo.lock`.
    pub watched_paths: BTreeSet<String>,
}

/// Computes the fingerprint of every crate under `stages/` of the workspace at `root`.
///
/// `features` are the root package's active features; they decide which result-changing features of the crates below
/// are on. A stage whose own feature is off is fingerprinted as if it were on.
///
/// # Errors
/// A file that cannot be read, or a manifest or lock file that does not say what it must; never a Rust file that
/// does not parse (that one is hashed as bytes).
pub fn fingerprints(root: &Path, features: &BTreeSet<String>) -> Result<Fingerprints, Error> {
    let workspace = workspace::Workspace::read(root)?;
    let active = workspace.active_features(features);
    let mut known: BTreeMap<String, Rc<package::Digests>> = BTreeMap::new();
    let mut stages = BTreeMap::new();
    let mut watched_paths = BTreeSet::from(["Cargo.toml".to_owned(), "Cargo.lock".to_owned()]);
    for folder in workspace.stage_folders() {
        let mut used = BTreeMap::new();
        for hashed in workspace.hashed_packages(folder)? {
            let digests = match known.get(&hashed.folder) {
                Some(digests) => Rc::clone(digests),
                None => Rc::new(package::digests(&workspace, &hashed, active.get(&hashed.folder))?),
            };
            known.insert(hashed.folder.clone(), Rc::clone(&digests));
            watched_paths.insert(hashed.folder);
            used.insert(hashed.name, digests);
        }
        let stage = folder.rsplit('/').next().unwrap_or(folder).to_owned();
        stages.insert(stage, combine(&used));
    }
    Ok(Fingerprints { stages, watched_paths })
}

/// One stage's fingerprint from the digests of the crates that it uses.
fn combine(used: &BTreeMap<String, Rc<package::Digests>>) -> Fingerprint {
    let mut base = digest::Fields::new("stage");
    let mut parts: BTreeMap<String, digest::Fields> = BTreeMap::new();
    for (name, digests) in used {
        base.text(name).text(&digests.base);
        for (part, digest) in &digests.parts {
            parts.entry(part.clone()).or_insert_with(|| digest::Fields::new("part")).text(name).text(digest);
        }
    }
    Fingerprint {
        base: base.finish(),
        parts: parts.into_iter().map(|(part, fields)| (part, fields.finish())).collect(),
        crates: used.iter().map(|(name, digests)| (name.clone(), digests.base.clone())).collect(),
    }
}

impl Fingerprints {
    /// `{"STAGE": {"base": DIGEST, "crates": {NAME: DIGEST, …}, "parts": {NAME: DIGEST, …}}, …}`, keys sorted.
    pub fn to_json(&self) -> String {
        let stages = self.stages.iter().map(|(stage, fingerprint)| {
            let base = quoted(&fingerprint.base);
            let (crates, parts) = (strings(&fingerprint.crates), strings(&fingerprint.parts));
            (stage, format!("{{\"base\":{base},\"crates\":{crates},\"parts\":{parts}}}"))
        });
        object(stages)
    }
}

fn strings(map: &BTreeMap<String, String>) -> String {
    object(map.iter().map(|(name, value)| (name, quoted(value))))
}

fn object<'a>(members: impl Iterator<Item = (&'a String, String)>) -> String {
    let members: Vec<String> = members.map(|(name, json)| format!("{}:{json}", quoted(name))).collect();
    format!("{{{}}}", members.join(","))
}

fn quoted(text: &str) -> String {
    let mut json = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => json.extend(['\\', character]),
            control if control < ' ' => {
                let _ = write!(json, "\\u{:04x}", u32::from(control));
            }
            other => json.push(other),
        }
    }
    json.push('"');
    json
}
