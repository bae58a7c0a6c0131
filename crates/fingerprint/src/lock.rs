//! `Cargo.lock`: which versions were chosen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml::{Table, Value};

use crate::Error;
use crate::manifest::{read_table, text, texts};

/// All packages of a `Cargo.lock`.
pub(crate) struct Lock {
    packages: BTreeMap<String, Vec<Package>>,
}

/// One version of one package.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The registry or repository; none for a folder on this disk.
    pub(crate) source: Option<String>,
    /// `name`, `name version` or `name version (source)`, as much as it takes to be unique.
    dependencies: Vec<String>,
}

impl Lock {
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let table = read_table(path)?;
        let mut packages: BTreeMap<String, Vec<Package>> = BTreeMap::new();
        for entry in table.get("package").and_then(Value::as_array).into_iter().flatten() {
            let package = entry.as_table().and_then(package);
            let package = package.ok_or_else(|| Error::new(path, "a `[[package]]` without name or version"))?;
            packages.entry(package.name.clone()).or_default().push(package);
        }
        Ok(Lock { packages })
    }

    /// The packages that the workspace crate `user` means by the dependency `name`: one, or all versions of that name
    /// that it uses (under several aliases); none if the lock does not have it.
    pub(crate) fn resolved_packages(&self, user: &str, name: &str) -> Vec<&Package> {
        self.local(user)
            .map(|user| self.dependencies(user))
            .unwrap_or_default()
            .into_iter()
            .filter(|p| p.name == name)
            .collect()
    }

    /// The packages without a source that are reached from `start`: crates of the workspace, and patches.
    pub(crate) fn local_below<'a>(&'a self, start: Vec<&'a Package>) -> BTreeSet<&'a str> {
        let mut seen = BTreeSet::new();
        let mut local = BTreeSet::new();
        let mut waiting = start;
        while let Some(package) = waiting.pop() {
            if seen.insert((&package.name, &package.version, &package.source)) {
                if package.source.is_none() {
                    local.insert(package.name.as_str());
                }
                waiting.extend(self.dependencies(package));
            }
        }
        local
    }

    fn local(&self, name: &str) -> Option<&Package> {
        self.packages.get(name)?.iter().find(|package| package.source.is_none())
    }

    fn dependencies(&self, package: &Package) -> Vec<&Package> {
        let mut found: Vec<&Package> = package.dependencies.iter().flat_map(|wanted| self.matching(wanted)).collect();
        found.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
        found
    }

    fn matching<'a>(&'a self, wanted: &str) -> impl Iterator<Item = &'a Package> {
        let mut words = wanted.splitn(3, ' ').map(str::to_owned);
        let name = words.next().unwrap_or_default();
        let (version, source) = (words.next(), words.next());
        self.packages.get(&name).into_iter().flatten().filter(move |package| {
            let same_source =
                |source: &String| package.source.as_ref().is_some_and(|own| *source == format!("({own})"));
            version.as_ref().is_none_or(|version| package.version == *version)
                && source.as_ref().is_none_or(same_source)
        })
    }
}

fn package(entry: &Table) -> Option<Package> {
    Some(Package {
        name: text(entry, "name")?,
        version: text(entry, "version")?,
        source: text(entry, "source"),
        dependencies: texts(entry, "dependencies"),
    })
}

/// Returns the part of a version that it shares with all compatible ones, as cargo has it: 1.4.2 -> 1, 0.9.3 -> 0.9,
/// 0.0.5 -> 0.0.5; a pre-release is compatible with nothing else.
pub(crate) fn compatible(version: &str) -> &str {
    let plain = version.split_once('+').map_or(version, |(plain, _)| plain);
    if plain.contains('-') {
        return plain;
    }
    let mut ends = plain.match_indices('.').map(|(at, _)| at);
    let (first, second) = (ends.next(), ends.next());
    let end = match (plain.starts_with("0."), plain.starts_with("0.0.")) {
        (_, true) => None,
        (true, _) => second,
        _ => first,
    };
    &plain[..end.unwrap_or(plain.len())]
}
