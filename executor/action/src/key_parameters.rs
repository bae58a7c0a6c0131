//! Parameters as they enter a key: files by content, secrets and variables by digest.
//!
//! The engine makes keys with this, and the process of an action checks with it that nothing changed since.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use cwm_contract::{ParameterSpec, Secret, SourceFiles, SourceLocation, Stage, Type, Value, Values};

use super::source_key::{FILE, SECRET, content};
use cwm_core::{Digest, Error};
use cwm_store::{DigestCache, FileFingerprint};

/// The prefix of a variable of the environment among the parameters of a key.
pub const VARIABLE: &str = "env ";

/// The prefix of the declaration of a command's output.
pub const OUTPUT: &str = "output ";

/// Variables that a command takes over from the environment, as they enter the key: by digest, since they may be
/// secrets. One that is not set is null, which is not the same as empty.
pub fn variables(names: &[String]) -> impl Iterator<Item = (String, Value)> + '_ {
    names.iter().map(|name| {
        let value = std::env::var_os(name).map_or(Value::Null, |value| secret_value(value.as_bytes()));
        (format!("{VARIABLE}{name}"), value)
    })
}

/// All parameters of a stage as they enter the key; the files among them are added to `seen`.
///
/// # Errors
/// A file or a secret cannot be read.
pub fn parameters(
    stage: &dyn Stage,
    values: &Values,
    digests: &DigestCache,
    seen: &mut Vec<FileFingerprint>,
) -> Result<BTreeMap<String, Value>, Error> {
    let parameter = |spec: &ParameterSpec, seen: &mut Vec<FileFingerprint>| {
        let value = values.get(spec.name).cloned().unwrap_or_default();
        Ok((spec.name.to_owned(), key_value(&spec.kind, value, digests, seen)?))
    };
    let unused = stage.unused_parameters(values);
    stage.parameters().iter().filter(|spec| !unused.contains(&spec.name)).map(|spec| parameter(spec, seen)).collect()
}

/// All parameters of a stage, with the files among them under other paths. Secrets stay where they are.
pub fn with_moved_paths(stage: &dyn Stage, values: &Values, to: &dyn Fn(&Path) -> PathBuf) -> Values {
    let mut moved = values.clone();
    for spec in stage.parameters() {
        if let Some(value) = moved.get_mut(spec.name) {
            relocate(&spec.kind, value, to);
        }
    }
    moved
}

fn relocate(kind: &Type, value: &mut Value, to: &dyn Fn(&Path) -> PathBuf) {
    for (kind, leaf) in leaves(kind, value) {
        if let Some(path) = path_of(kind, leaf) {
            *leaf = Value::Text(to(path).to_string_lossy().into());
        }
    }
}

/// Returns the parts of a parameter of this type that are no list, map or option, with their types.
fn leaves<'v>(kind: &'v Type, value: &'v mut Value) -> Vec<(&'v Type, &'v mut Value)> {
    match (kind, value) {
        (Type::Optional(_), Value::Null) => Vec::new(),
        (Type::List(inner) | Type::OneOrMany(inner), Value::List(items)) => {
            items.iter_mut().flat_map(|item| leaves(inner, item)).collect()
        }
        (Type::Map(inner), Value::Map(items)) => items.values_mut().flat_map(|item| leaves(inner, item)).collect(),
        (Type::Optional(inner) | Type::OneOrMany(inner), value) => leaves(inner, value),
        (kind, value) => vec![(kind, value)],
    }
}

/// The path in a value of this type, if it is one of a file or folder.
fn path_of<'v>(kind: &Type, value: &'v Value) -> Option<&'v Path> {
    let text = value.as_text()?;
    match kind {
        Type::File | Type::Files { .. } => Some(Path::new(text)),
        Type::FileOrUrl { .. } => (!SourceLocation::is_url(text)).then(|| Path::new(text)),
        _ => None,
    }
}

/// A parameter as it enters the key: files by content, secrets by digest, all else as it is.
fn key_value(
    kind: &Type,
    mut value: Value,
    digests: &DigestCache,
    seen: &mut Vec<FileFingerprint>,
) -> Result<Value, Error> {
    for (kind, leaf) in leaves(kind, &mut value) {
        *leaf = match (kind, path_of(kind, leaf)) {
            (Type::Files { endings }, Some(path)) if path.is_dir() => {
                let listed = SourceFiles(path.into()).list(endings)?;
                Value::List(listed.iter().map(|path| file_value(path, digests, seen)).collect::<Result<_, _>>()?)
            }
            (_, Some(path)) => file_value(path, digests, seen)?,
            (Type::Secret { env, public }, None) => {
                let file = leaf.as_text().map(PathBuf::from);
                let (text, _) =
                    Secret::resolve(file.as_deref(), env, public).map_err(|failure| Error::system(failure.message))?;
                secret_value(text.as_bytes())
            }
            (_, None) => continue,
        };
    }
    Ok(value)
}

fn file_value(path: &Path, digests: &DigestCache, seen: &mut Vec<FileFingerprint>) -> Result<Value, Error> {
    let snapshot = digests.snapshot(path)?;
    let value = content(FILE, &snapshot.digest.to_string(), None);
    seen.push(snapshot);
    Ok(value)
}

fn secret_value(text: &[u8]) -> Value {
    content(SECRET, &Digest::of(text).to_string(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_under_other_paths_and_nothing_else_is_touched() {
        let text = |text: &str| Value::Text(text.to_owned());
        let list = |items: &[&str]| Value::List(items.iter().map(|item| text(item)).collect());
        let to = |path: &Path| Path::new("/there").join(path.strip_prefix("/").unwrap());
        let folder = || Type::Files { endings: &[".pgn"] };
        let secret = Type::Secret { env: "KEY", public: "x" };
        for (kind, mut value, moved) in [
            (Type::File, text("/a/b.pgn"), text("/there/a/b.pgn")),
            (folder(), text("/a"), text("/there/a")),
            (Type::FileOrUrl { endings: &[] }, text("/a"), text("/there/a")),
            (Type::FileOrUrl { endings: &[] }, text("https://example.org/a"), text("https://example.org/a")),
            (Type::Optional(Box::new(Type::File)), text("/a"), text("/there/a")),
            (Type::Optional(Box::new(Type::File)), Value::Null, Value::Null),
            (Type::OneOrMany(Box::new(Type::File)), text("/a"), text("/there/a")),
            (Type::OneOrMany(Box::new(Type::File)), list(&["/a", "/b"]), list(&["/there/a", "/there/b"])),
            (Type::Text, text("/a"), text("/a")),
            (secret, text("/key"), text("/key")),
        ] {
            relocate(&kind, &mut value, &to);
            assert_eq!(value, moved, "{kind:?}");
        }
    }
}
