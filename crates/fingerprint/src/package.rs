//! The digests of one crate: its base, and each of its parts.

use std::collections::{BTreeMap, BTreeSet};

use crate::digest::Fields;
use crate::files::{self, Content, SourceFile};
use crate::lock::{Lock, compatible};
use crate::manifest::Manifest;
use crate::workspace::{HashedPackage, Workspace};
use crate::{Error, modules, normal, registry};

/// The digests of one crate, which enter the fingerprints of the stages that use it.
pub(crate) struct Digests {
    pub(crate) base: String,
    pub(crate) parts: BTreeMap<String, String>,
}

/// Hashes a crate, of which the features `active` are on.
pub(crate) fn digests(
    workspace: &Workspace,
    package: &HashedPackage,
    active: Option<&BTreeSet<String>>,
) -> Result<Digests, Error> {
    let folder = workspace.root.join(&package.folder);
    let mut files = files::read_crate(&folder)?;
    let test_only = modules::test_only(&files);
    files.retain(|file| !test_only.contains(&file.path));

    let mut base = Fields::new("crate");
    let mut parts_folder = None;
    if let Some(manifest) = workspace.manifest(&package.folder) {
        describe(manifest, &workspace.lock, active, &mut base);
        parts_folder = manifest.parts.as_deref();
    }
    let names: BTreeSet<String> = files.iter().filter_map(|file| part_of(&file.path, parts_folder?)).collect();
    if let Some(missing) = parts_folder.filter(|_| names.is_empty()) {
        return Err(Error::new(&folder.join(missing), "`package.metadata.cwm.parts` names it, but no part is there"));
    }
    let mut parts: BTreeMap<String, Fields> = names.iter().map(|name| (name.clone(), Fields::new(name))).collect();
    for mut file in files {
        let part = parts_folder.and_then(|folder| part_of(&file.path, folder));
        if let Content::Rust(rust) = &mut file.content
            && parts_folder.is_some_and(|folder| is_registry(&file.path, folder))
        {
            for (part, pieces) in registry::cut(rust, &names) {
                let fields = parts.get_mut(&part).expect("only names are cut");
                fields.text("registered");
                pieces.iter().for_each(|piece| _ = fields.bytes(piece));
            }
        }
        add(file, part.as_ref().and_then(|part| parts.get_mut(part)).unwrap_or(&mut base));
    }
    let parts = parts.into_iter().map(|(name, fields)| (name, fields.finish())).collect();
    Ok(Digests { base: base.finish(), parts })
}

fn add(file: SourceFile, fields: &mut Fields) {
    fields.text(&file.path);
    match file.content {
        Content::Rust(rust) => fields.text("rust").bytes(&normal::encode_file(*rust)),
        Content::Bytes(bytes) => fields.text("bytes").bytes(&bytes),
    };
}

/// `src/families/slice.rs` and `src/families/slice/scan.rs` belong to the part `slice` of `src/families`.
fn part_of(path: &str, folder: &str) -> Option<String> {
    let below = path.strip_prefix(folder)?.strip_prefix('/')?;
    let name = match below.split_once('/') {
        Some((name, _)) => name,
        None => below.strip_suffix(".rs").filter(|name| *name != "mod")?,
    };
    Some(name.to_owned())
}

/// `src/families/mod.rs` or `src/families.rs`.
fn is_registry(path: &str, folder: &str) -> bool {
    let below = path.strip_prefix(folder);
    below == Some("/mod.rs") || below == Some(".rs")
}

/// Describes the parts of a manifest that can change a result: edition, direct dependencies, and the features that say so.
fn describe(manifest: &Manifest, lock: &Lock, active: Option<&BTreeSet<String>>, fields: &mut Fields) {
    fields.text(&manifest.name).text(&manifest.edition);
    let on = manifest.result_features.iter().filter(|feature| active.is_some_and(|active| active.contains(*feature)));
    for feature in on.collect::<BTreeSet<_>>() {
        fields.text("feature").text(feature);
    }
    for dependency in &manifest.dependencies {
        fields.text(&dependency.table).text(&dependency.alias).text(&dependency.package);
        fields.text(if dependency.default_features { "default features" } else { "no default features" });
        dependency.features.iter().for_each(|feature| _ = fields.text(feature));
        if dependency.folder.is_some() {
            continue;
        }
        let exact = dependency.requirement.trim_start().starts_with('=');
        for package in lock.resolved_packages(&manifest.name, &dependency.package) {
            fields.text(if exact { &package.version } else { compatible(&package.version) });
            // The same version can be several things when it comes from a repository; its address holds the commit.
            if let Some(source) = package.source.as_ref().filter(|source| source.starts_with("git+")) {
                fields.text(source);
            }
        }
    }
}
