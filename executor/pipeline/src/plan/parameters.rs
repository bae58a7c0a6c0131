//! Completes a stage's parameters: it checks names and types, adds defaults, and makes paths absolute.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use cwm_contract::{ParameterSpec, SourceLocation, Stage, Type, Value, Values};

use cwm_core::{Content, Diagnostic, Diagnostics, Node, Place, SpannedStr, nearest, suggest, visible};

/// The folders that paths are relative to.
#[derive(Clone, Debug)]
pub struct Folders {
    /// For what the pipeline file says.
    pub file: PathBuf,
    /// For what a `--set` says.
    pub current: PathBuf,
}

impl Folders {
    /// A path as written, made absolute. A path that begins with a variable given by `--set` is relative to the current
    /// folder.
    pub fn absolute(&self, text: &str, origin: Option<Place>) -> PathBuf {
        let set = origin.is_some_and(|place| place.is_set());
        plain(&if set { &self.current } else { &self.file }.join(text))
    }
}

/// Without `.` and doubled slashes. `..` stays: what it means may depend on links.
pub fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

/// The complete parameters of one cell, and where each was written.
#[derive(Clone, Debug)]
pub struct Complete {
    /// By name.
    pub values: Values,
    /// Places of those that were given.
    pub given: BTreeMap<String, Written>,
}

/// The place of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// In the stage.
    pub place: Place,
    /// The place of its value, if that is a variable, an axis or `--set`.
    pub origin: Option<Place>,
}

impl Written {
    /// Returns the place of a node.
    pub fn of(node: &Node) -> Self {
        Written { place: node.place, origin: node.origin }
    }

    /// Returns the place of the value itself.
    pub fn value(self) -> Place {
        self.origin.unwrap_or(self.place)
    }
}

/// Checks `with` (names already substituted) against what `stage` declares; the parameters `wrong` were given, and what
/// is wrong with them was reported. `None` if something is wrong, which is
/// reported.
pub fn complete(
    stage: &dyn Stage,
    name: &SpannedStr,
    specs: &[ParameterSpec],
    with: &[(SpannedStr, Node)],
    wrong: &[&str],
    folders: &Folders,
    problems: &mut Diagnostics,
) -> Option<Complete> {
    let mut values = Values::new();
    let mut right = wrong.is_empty();
    // The parameter that a misspelt key means is not reported as missing as well.
    let mut meant = Vec::new();
    for (key, _) in with {
        if !specs.iter().any(|spec| spec.name == key.text) {
            right = false;
            let known = specs.iter().map(|spec| spec.name);
            meant.extend(nearest(&key.text, known.clone()));
            problems.push(
                Diagnostic::at(key.place, format!("`{}` has no parameter `{}`", stage.kind(), visible(&key.text)))
                    .maybe_hint(suggest(&key.text, "parameters", known).or(Some("it has none".into()))),
            );
        }
    }
    for spec in specs.iter().filter(|spec| !wrong.contains(&spec.name)) {
        let node = with.iter().find(|(key, _)| key.text == spec.name).map(|(_, node)| node);
        if node.is_none() && meant.contains(&spec.name) {
            continue;
        }
        match value(spec, node, name, folders) {
            Ok(value) => {
                values.insert(spec.name.to_owned(), value);
            }
            Err(problem) => {
                right = false;
                problems.push(*problem);
            }
        }
    }
    if !right {
        return None;
    }
    let given: BTreeMap<_, _> = with.iter().map(|(key, node)| (key.text.clone(), Written::of(node))).collect();
    for fault in stage.check(&values) {
        right = false;
        let node = with.iter().find(|(key, _)| key.text == fault.parameter).map(|(_, node)| node);
        let place = node.map_or(name.place, |node| node.place);
        let mut problem = Diagnostic::at(place, format!("parameter `{}` {}", fault.parameter, fault.message));
        if let (None, Some(value)) = (node, values.get(&fault.parameter)) {
            problem = problem.hint(format!("it is not given here; its default is {value}"));
        }
        problems.push(problem.maybe_related(node.and_then(|node| node.origin), "its value comes from here"));
    }
    right.then_some(Complete { values, given })
}

fn value(
    spec: &ParameterSpec,
    node: Option<&Node>,
    stage: &SpannedStr,
    folders: &Folders,
) -> Result<Value, Box<Diagnostic>> {
    let Some(node) = node else {
        let mut value = spec.default.clone().ok_or_else(|| {
            Box::new(
                Diagnostic::at(stage.place, format!("stage `{}` is missing its parameter `{}`", stage.text, spec.name))
                    .hint(format!("it must be {}: {}", spec.kind.describe(), first_sentence(&spec.doc))),
            )
        })?;
        paths(&spec.kind, None, &mut value, folders).map_err(|message| Diagnostic::at(stage.place, message))?;
        return Ok(value);
    };
    let wrong = |message: String| {
        let hint = match (&spec.kind, node.text()) {
            (Type::Choice(words), Some(text)) => {
                nearest(text, words.iter().copied()).map(|near| format!("did you mean `{near}`?"))
            }
            _ => None,
        };
        Box::new(
            Diagnostic::at(node.place, format!("parameter `{}` {message}", spec.name))
                .maybe_related(node.origin, "its value comes from here")
                .maybe_hint(hint),
        )
    };
    let mut value = spec.kind.normalise(&node.value()).map_err(wrong)?;
    paths(&spec.kind, Some(node), &mut value, folders).map_err(wrong)?;
    Ok(value)
}

fn first_sentence(doc: &str) -> String {
    let doc = doc.split_whitespace().collect::<Vec<_>>().join(" ");
    doc.split_once(". ").map_or(doc.as_str(), |(first, _)| first).trim_end_matches('.').to_owned()
}

/// Makes the paths in a value absolute; `node` is what it was read from, of the same form.
fn paths(kind: &Type, node: Option<&Node>, value: &mut Value, folders: &Folders) -> Result<(), String> {
    match (kind, value) {
        (Type::File | Type::Files { .. } | Type::Secret { .. }, Value::Text(text)) => {
            *text = absolute(text, node, folders)?
        }
        (Type::FileOrUrl, Value::Text(text)) if !SourceLocation::is_url(text) => {
            *text = absolute(text, node, folders)?;
        }
        (Type::List(inner) | Type::OneOrMany(inner), Value::List(values)) => {
            for (index, value) in values.iter_mut().enumerate() {
                let item = match node.map(|node| &node.content) {
                    Some(Content::List(items)) => items.get(index),
                    _ => None,
                };
                paths(inner, item, value, folders)?;
            }
        }
        (Type::Optional(inner) | Type::OneOrMany(inner), value) => paths(inner, node, value, folders)?,
        (Type::Map(inner), Value::Map(values)) => {
            for (key, value) in values {
                let item = match node.map(|node| &node.content) {
                    Some(Content::Map(entries)) => {
                        entries.iter().rev().find(|(other, _)| other.text == *key).map(|(_, item)| item)
                    }
                    _ => None,
                };
                paths(inner, item, value, folders)?;
            }
        }
        _ => (),
    }
    Ok(())
}

fn absolute(text: &str, node: Option<&Node>, folders: &Folders) -> Result<String, String> {
    if text.is_empty() {
        return Err("must be the path of a file, not empty".into());
    }
    let path = folders.absolute(text, node.and_then(|node| node.origin));
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| format!("is in a folder whose name is not UTF-8: {}", path.display()))
}
