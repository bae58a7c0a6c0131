//! Completes a stage's parameters: it checks names and types, adds defaults, and makes paths absolute.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use cwm_contract::{ParameterError, ParameterSpec, SourceFiles, SourceLocation, Stage, Type, Value, Values};

use super::build::Planner;
use super::substitute::all;
use cwm_core::{Content, Diagnostic, Node, Place, SpannedStr, escape_controls, nearest, suggest};

/// The folders that paths are relative to.
pub struct Folders {
    /// The folder for values of the pipeline file.
    pub file: PathBuf,
    /// The folder for values of `--set`.
    pub current: PathBuf,
}

impl Folders {
    /// Returns a path that was written at `place`, made absolute: one of `--set` is relative to the current folder.
    pub fn absolute(&self, text: &str, place: Option<Place>) -> PathBuf {
        let set = place.is_some_and(|place| place.is_set());
        without_dots(&if set { &self.current } else { &self.file }.join(text))
    }
}

/// Removes `.` and doubled slashes from a path. `..` stays: what it means may depend on links.
pub fn without_dots(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

/// The complete parameters of one cell, and where each was written.
pub struct CompleteParameters {
    pub values: Values,
    /// Places of those that were given.
    pub explicit: BTreeMap<String, ParameterSource>,
    /// Folders in place of which the values have their files.
    pub folders: Vec<PathBuf>,
}

/// The place of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterSource {
    /// The place in the stage.
    pub place: Place,
    /// The place of its value, which may be a variable, an axis or `--set`.
    pub value_place: Place,
}

impl Planner<'_> {
    /// Completes the values `with` (names already substituted) by what `stage` declares. None if something is wrong, which is
    /// reported; the values of the parameters `wrong` are wrong already. The second part are the folders in place of which the
    /// values have their files.
    pub fn complete(
        &self,
        stage: &dyn Stage,
        name: &SpannedStr,
        specs: &[ParameterSpec],
        with: &[(SpannedStr, Node)],
        wrong: &[&str],
    ) -> Option<(Values, Vec<PathBuf>)> {
        let find = |name: &str| with.iter().find(|(key, _)| key.text == name).map(|(_, node)| node);
        let known = || specs.iter().map(|spec| spec.name);
        for (key, _) in with.iter().filter(|(key, _)| !known().any(|name| name == key.text)) {
            let message = format!("`{}` has no parameter `{}`", stage.kind(), escape_controls(&key.text));
            let hint = suggest(&key.text, "parameters", known()).or(Some("it has none".into()));
            self.problems.push(Diagnostic::at(key.place, message).maybe_hint(hint));
        }
        let mut folders = Vec::new();
        let value = |spec: &ParameterSpec| {
            let node = find(spec.name);
            if wrong.contains(&spec.name) {
                return None;
            }
            let value = value(spec, node, name, self.folders, &mut folders);
            Some((spec.name.to_owned(), self.problems.ok(value)?))
        };
        let values: Values = all(specs.iter().map(value))?.into_iter().collect();
        let errors = stage.check(&values);
        let is_right = errors.is_empty();
        for ParameterError { parameter, message, hint } in errors {
            let message = format!("parameter `{parameter}` {message}");
            self.problems.push(match (find(&parameter), values.get(&parameter)) {
                (Some(node), _) => node.problem(message).maybe_hint(hint),
                (None, None) => Diagnostic::at(name.place, message).maybe_hint(hint),
                (None, Some(value)) => {
                    let default = format!("it is not given here; its default is {value}");
                    Diagnostic::at(name.place, message).hint(hint.unwrap_or(default))
                }
            });
        }
        is_right.then_some((values, folders))
    }
}

fn value(
    spec: &ParameterSpec,
    node: Option<&Node>,
    stage: &SpannedStr,
    folders: &Folders,
    listed: &mut Vec<PathBuf>,
) -> Result<Value, Diagnostic> {
    let Some(node) = node else {
        let mut value = spec.default.clone().ok_or_else(|| {
            Diagnostic::at(stage.place, format!("stage `{}` is missing its parameter `{}`", stage.text, spec.name))
                .hint(format!("it must be {}: {}", spec.kind.describe(), first_sentence(&spec.doc)))
        })?;
        paths(&spec.kind, None, &mut value, folders).map_err(|message| Diagnostic::at(stage.place, message))?;
        return Ok(value);
    };
    let mut read = || {
        let mut value = spec.kind.normalise(&node.value())?;
        paths(&spec.kind, Some(node), &mut value, folders)?;
        list_folders(&spec.kind, &mut value, listed)?;
        Ok(value)
    };
    read().map_err(|message: String| {
        let meant = match (&spec.kind, node.text()) {
            (Type::Choice(words), Some(text)) => nearest(text, words.iter().copied()),
            _ => None,
        };
        node.problem(format!("parameter `{}` {message}", spec.name))
            .maybe_hint(meant.map(|near| format!("did you mean `{near}`?")))
    })
}

/// The first sentence of a parameter's documentation.
pub fn first_sentence(doc: &str) -> String {
    let doc = doc.split_whitespace().collect::<Vec<_>>().join(" ");
    doc.split_once(". ").map_or(doc.as_str(), |(first, _)| first).trim_end_matches('.').to_owned()
}

/// Makes the paths in a value absolute; `node` is what it was read from, of the same form.
fn paths(kind: &Type, node: Option<&Node>, value: &mut Value, folders: &Folders) -> Result<(), String> {
    let mut done = Ok(());
    each_path(kind, node, value, &mut |_, node, path| {
        if path.is_empty() {
            done = Err("must be the path of a file, not empty".to_owned());
        }
        *path = folders.absolute(path, node.map(Node::value_place)).to_string_lossy().into_owned();
    });
    done
}

/// Puts the files of folders in their place, where the type takes a list of files and URLs: the plan, the key and the stage then
/// have the same files. Adds the folders to `listed`.
fn list_folders(kind: &Type, value: &mut Value, listed: &mut Vec<PathBuf>) -> Result<(), String> {
    let inner = match kind {
        Type::Optional(inner) => return list_folders(inner, value, listed),
        Type::OneOrMany(inner) => inner,
        _ => return Ok(()),
    };
    let is_folder = |item: &Value| item.as_text().is_some_and(|path| Path::new(path).is_dir());
    let items = if let Value::List(items) = &*value { &items[..] } else { std::slice::from_ref(&*value) };
    let Type::FileOrUrl { endings: endings @ [_, ..] } = **inner else { return Ok(()) };
    if !items.iter().any(is_folder) {
        return Ok(());
    }
    let mut files = Vec::new();
    for item in items {
        match item.as_text().filter(|_| is_folder(item)) {
            Some(folder) => {
                let found = SourceFiles(folder.into()).list(endings);
                let found = found.map_err(|failure| format!("names no file: {}", failure.message))?;
                files.extend(found.iter().map(|path| Value::Text(path.to_string_lossy().into_owned())));
                listed.push(folder.into());
            }
            None => files.push(item.clone()),
        }
    }
    *value = Value::List(files);
    Ok(())
}

/// Visits each path in a value of this type: its own type, the node that it was read from, and itself.
pub fn each_path(
    kind: &Type,
    node: Option<&Node>,
    value: &mut Value,
    visit: &mut dyn FnMut(&Type, Option<&Node>, &mut String),
) {
    let content = node.map(|node| &node.content);
    match (kind, value) {
        (Type::FileOrUrl { .. }, Value::Text(text)) if SourceLocation::is_url(text) => {}
        (Type::File | Type::Files { .. } | Type::Secret { .. } | Type::FileOrUrl { .. }, Value::Text(path)) => {
            visit(kind, node, path);
        }
        (Type::List(inner) | Type::OneOrMany(inner), Value::List(values)) => {
            for (index, value) in values.iter_mut().enumerate() {
                let item = if let Some(Content::List(items)) = content { items.get(index) } else { None };
                each_path(inner, item, value, visit);
            }
        }
        (Type::Map(inner), Value::Map(values)) => {
            for (name, value) in values {
                let entries = if let Some(Content::Map(entries)) = content { &entries[..] } else { &[] };
                let entry = entries.iter().rfind(|(key, _)| key.text == *name);
                each_path(inner, entry.map(|(_, item)| item), value, visit);
            }
        }
        (Type::Optional(inner) | Type::OneOrMany(inner), value) => each_path(inner, node, value, visit),
        _ => {}
    }
}
