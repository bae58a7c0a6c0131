//! Cargo manifests: what of them decides a result.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use toml::{Table, Value};

use crate::Error;

/// The fields of a crate's `Cargo.toml` that are read, with those inherited from the workspace filled in.
pub(crate) struct Manifest {
    pub(crate) name: String,
    pub(crate) edition: String,
    /// All but the development ones.
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) features: BTreeMap<String, Vec<String>>,
    /// `[package.metadata.cwm] result-features`: those whose state changes results.
    pub(crate) result_features: Vec<String>,
    /// `[package.metadata.cwm] parts`: the folder whose entries are hashed apart.
    pub(crate) parts: Option<String>,
}

/// One entry of `[dependencies]`, `[build-dependencies]`, or one of those below `[target.'…']`.
pub(crate) struct Dependency {
    /// The table that it stands in.
    pub(crate) table: String,
    /// The name that the code uses.
    pub(crate) alias: String,
    /// The package's name.
    pub(crate) package: String,
    pub(crate) requirement: String,
    /// The package's folder, relative to the workspace's root, if it is a path dependency.
    pub(crate) folder: Option<String>,
    pub(crate) features: BTreeSet<String>,
    pub(crate) default_features: bool,
}

/// The root manifest as far as others inherit from it.
pub(crate) struct Inheritance {
    dependencies: Table,
    edition: Option<String>,
}

/// Reads a file of TOML.
pub(crate) fn read_table(path: &Path) -> Result<Table, Error> {
    let text = fs::read_to_string(path).map_err(|error| Error::new(path, error))?;
    text.parse().map_err(|error| Error::new(path, error))
}

impl Inheritance {
    pub(crate) fn of(root: &Table) -> Self {
        let workspace = root.get("workspace").and_then(Value::as_table);
        let inherited = |key| workspace.and_then(|table| table.get(key)).and_then(Value::as_table);
        Inheritance {
            dependencies: inherited("dependencies").cloned().unwrap_or_default(),
            edition: inherited("package").and_then(|package| text(package, "edition")),
        }
    }
}

impl Manifest {
    /// Reads the manifest of the crate at `folder` (relative to `root`; empty for the root itself).
    pub(crate) fn read(root: &Path, folder: &str, inheritance: &Inheritance) -> Result<Self, Error> {
        let path = root.join(folder).join("Cargo.toml");
        let table = read_table(&path)?;
        let wrong = |problem: String| Error::new(&path, problem);
        let package = table.get("package").and_then(Value::as_table);
        let package = package.ok_or_else(|| wrong("has no `[package]`".to_owned()))?;
        let name = text(package, "name").ok_or_else(|| wrong("`package.name` is missing".to_owned()))?;
        let edition = match package.get("edition") {
            Some(Value::Table(_)) => inheritance.edition.clone(),
            Some(Value::String(edition)) => Some(edition.clone()),
            _ => Some("2015".to_owned()),
        };
        let edition = edition.ok_or_else(|| wrong("`edition.workspace` has nothing to inherit".to_owned()))?;
        let metadata = package.get("metadata").and_then(|metadata| metadata.get("cwm"));
        let metadata = metadata.and_then(Value::as_table).cloned().unwrap_or_default();
        if let Some(unknown) = metadata.keys().find(|key| !matches!(key.as_str(), "parts" | "result-features")) {
            return Err(wrong(format!(
                "`package.metadata.cwm.{unknown}` is unknown; known: `parts`, `result-features`"
            )));
        }
        let mut features = BTreeMap::new();
        for (feature, _) in table.get("features").and_then(Value::as_table).into_iter().flatten() {
            let declared = table["features"].as_table().map(|features| texts(features, feature));
            features.insert(feature.clone(), declared.unwrap_or_default());
        }
        let result_features = texts(&metadata, "result-features");
        if let Some(unknown) = result_features.iter().find(|feature| !features.contains_key(*feature)) {
            return Err(wrong(format!("`result-features` names `{unknown}`, which is no feature of this crate")));
        }
        Ok(Manifest {
            name,
            edition,
            dependencies: dependencies(&table, folder, inheritance).map_err(wrong)?,
            features,
            result_features,
            parts: text(&metadata, "parts").map(|parts| parts.trim_end_matches('/').to_owned()),
        })
    }
}

fn dependencies(manifest: &Table, folder: &str, inheritance: &Inheritance) -> Result<Vec<Dependency>, String> {
    let mut tables = vec![(String::new(), manifest)];
    for (target, table) in manifest.get("target").and_then(Value::as_table).into_iter().flatten() {
        tables.extend(table.as_table().map(|table| (format!("target.'{target}'."), table)));
    }
    let mut found = Vec::new();
    for (prefix, table) in tables {
        for kind in ["dependencies", "build-dependencies"] {
            for (alias, value) in table.get(kind).and_then(Value::as_table).into_iter().flatten() {
                found.push(dependency(&format!("{prefix}{kind}"), alias, value, folder, inheritance)?);
            }
        }
    }
    Ok(found)
}

fn dependency(
    kind: &str,
    alias: &str,
    value: &Value,
    folder: &str,
    inheritance: &Inheritance,
) -> Result<Dependency, String> {
    let own = long_form(value);
    let inherits = own.get("workspace").and_then(Value::as_bool) == Some(true);
    let (shared, folder) = if inherits {
        let shared = inheritance.dependencies.get(alias);
        let shared =
            shared.ok_or_else(|| format!("`{alias}.workspace = true`, but the root has no such dependency"))?;
        (long_form(shared), "")
    } else {
        (own.clone(), folder)
    };
    let default_features = |table: &Table| table.get("default-features").and_then(Value::as_bool);
    Ok(Dependency {
        table: kind.to_owned(),
        alias: alias.to_owned(),
        package: text(&shared, "package").unwrap_or_else(|| alias.to_owned()),
        requirement: text(&shared, "version").unwrap_or_default(),
        folder: text(&shared, "path").map(|path| resolve(folder, &path)),
        features: texts(&shared, "features").into_iter().chain(texts(&own, "features")).collect(),
        default_features: default_features(&shared).or_else(|| default_features(&own)).unwrap_or(true),
    })
}

/// `x = "1"` as `x = { version = "1" }`.
fn long_form(value: &Value) -> Table {
    match value {
        Value::Table(table) => table.clone(),
        other => Table::from_iter([("version".to_owned(), other.clone())]),
    }
}

/// `stages/split` and `../../crates/chess` give `crates/chess`.
pub(crate) fn resolve(folder: &str, path: &str) -> String {
    let mut steps: Vec<&str> = folder.split('/').filter(|step| !step.is_empty()).collect();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." if steps.last().is_some_and(|last| *last != "..") => {
                steps.pop();
            }
            name => steps.push(name),
        }
    }
    steps.join("/")
}

pub(crate) fn text(table: &Table, key: &str) -> Option<String> {
    table.get(key).and_then(Value::as_str).map(str::to_owned)
}

pub(crate) fn texts(table: &Table, key: &str) -> Vec<String> {
    let list = table.get(key).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}
