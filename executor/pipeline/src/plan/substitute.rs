//! `$name`: variables and axes put into values.
//!
//! Text that is exactly `$name` or `${name}` becomes the typed value; inside longer text the value is inserted as text;
//! `${name.key}` is what the map that is the value of an axis holds under that key; `$$` is a dollar. A `$` before
//! anything but a letter, `_`, `{` or `$` is itself.

use cwm_contract::Value;

use super::cells::Matrix;
use super::variables::Variables;
use cwm_core::{Content, Diagnostic, Node, Place, Problems, list_names, nearest, suggest};

/// The names that are defined at one place: the variables, and the axes of one cell.
pub struct Scope<'a> {
    /// The variables. None in the value of a variable, which cannot use another one.
    pub variables: Option<&'a Variables>,
    /// The matrix whose axes are defined.
    pub matrix: Option<&'a Matrix>,
    /// The cell that has their values. Without one the values are not known because of a problem, which was reported.
    pub cell: Option<usize>,
    pub problems: &'a Problems,
}

enum Piece<'t> {
    Text(&'t str),
    Name(&'t str),
}

impl<'a> Scope<'a> {
    /// Returns a scope of variables only.
    pub fn of_variables(variables: &'a Variables, problems: &'a Problems) -> Self {
        Scope { variables: Some(variables), matrix: None, cell: None, problems }
    }

    /// Returns a value with every name in its texts (not in its keys) replaced. None if something is wrong, which is reported.
    pub fn node(&self, node: &Node) -> Option<Node> {
        let content = match &node.content {
            Content::Scalar(Value::Text(text)) if text.contains('$') => return self.text(text, node),
            Content::Scalar(_) => return Some(node.clone()),
            Content::List(items) => Content::List(all(items.iter().map(|item| self.node(item)))?),
            Content::Map(entries) => {
                Content::Map(all(entries.iter().map(|(key, item)| Some((key.clone(), self.node(item)?))))?)
            }
        };
        Some(Node { content, ..node.clone() })
    }

    fn text(&self, text: &str, node: &Node) -> Option<Node> {
        let pieces =
            pieces(text).map_err(|message| Diagnostic::at(node.place, message).hint("`$$` stands for a dollar"));
        let pieces = self.problems.ok(pieces)?;
        let value = |name| {
            let found = self.get(name, node.place)?;
            Some((found, found.value_place()))
        };
        if let [Piece::Name(name)] = pieces[..] {
            let (found, origin) = value(name)?;
            return Some(Node { place: node.place, origin: Some(origin), content: found.content.clone() });
        }
        // A text that begins with a name has the origin of its value.
        let mut origin = None;
        let texts = pieces.iter().enumerate().map(|(index, piece)| {
            let name = match piece {
                Piece::Text(text) => return Some((*text).to_owned()),
                Piece::Name(name) => name,
            };
            let (found, from) = value(name)?;
            if index == 0 {
                origin = Some(from);
            }
            if found.scalar().is_none() {
                let message = format!("`${name}` is {} and cannot be used inside text", found.kind());
                self.problems.push(Diagnostic::at(node.place, message).related(found.place, "its value"));
                return None;
            }
            Some(found.value().to_string())
        });
        let text = all(texts)?.concat();
        Some(Node { place: node.place, origin, content: Content::Scalar(Value::Text(text)) })
    }

    /// Returns the value of `name`, or of `name.key`.
    fn get(&self, name: &str, place: Place) -> Option<&'a Node> {
        let mut keys = name.split('.');
        let found = self.variable_or_axis(keys.next().unwrap_or_default(), place)?;
        keys.try_fold(found, |map, key| self.problems.ok(entry(map, name, key, place)))
    }

    /// Returns the value of a variable or an axis.
    fn variable_or_axis(&self, name: &str, place: Place) -> Option<&'a Node> {
        if let Some((matrix, position)) = self.matrix.and_then(|matrix| Some((matrix, matrix.axis(name)?))) {
            matrix.axes[position].is_used.set(true);
            return self.cell.map(|cell| &matrix.value(cell, position).node);
        }
        let problem = Diagnostic::at(place, format!("there is no variable or axis `${name}`"));
        let Some(variables) = self.variables else {
            self.problems.push(problem.hint("a variable cannot use another one; `$$` stands for a dollar"));
            return None;
        };
        if let Some(variable) = variables.get(name) {
            variable.is_used.set(true);
            return Some(&variable.value);
        }
        // Where not all axes are known, it may be one of them.
        if self.matrix.is_none_or(|matrix| !matrix.is_open) {
            let mut names: Vec<&str> = variables.keys().map(String::as_str).collect();
            names.sort_unstable();
            let axes = self.matrix.iter().flat_map(|matrix| &matrix.axes).map(|axis| axis.name.as_str());
            let names: Vec<&str> = axes.chain(names).collect();
            self.problems.push(problem.hint(match (nearest(name, names.iter().copied()), list_names(&names)) {
                (Some(near), _) => format!("did you mean `${near}`?"),
                (None, Some(list)) => format!("there are {list}; `$$` stands for a dollar"),
                (None, None) => "there are no variables or axes; `$$` stands for a dollar".into(),
            }));
        }
        None
    }
}

/// Returns all items, if there are all. Every one is taken, so that all problems are reported.
pub fn all<T>(items: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    items.collect::<Vec<_>>().into_iter().collect()
}

/// Returns the entry of the map that `${name}` means.
fn entry<'a>(map: &'a Node, name: &str, key: &str, place: Place) -> Result<&'a Node, Diagnostic> {
    let Content::Map(entries) = &map.content else {
        let problem =
            Diagnostic::at(place, format!("`${{{name}}}` is the key `{key}` of {}, not of a map", map.kind()));
        return Err(problem
            .related(map.place, "its value")
            .hint("an axis whose values are maps has keys: `{ label: { key: value } }`"));
    };
    entries.iter().find(|(word, _)| word.text == key).map(|(_, node)| node).ok_or_else(|| {
        let names = entries.iter().map(|(word, _)| word.text.as_str());
        let problem = Diagnostic::at(place, format!("`${{{name}}}`: there is no `{key}`"));
        problem.related(map.place, "in here").maybe_hint(suggest(key, "keys", names))
    })
}

fn pieces(text: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        if at > 0 {
            pieces.push(Piece::Text(&rest[..at]));
        }
        let after = &rest[at + 1..];
        let letters = |text: &str| text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
        rest = match after.chars().next() {
            Some('$') => {
                pieces.push(Piece::Text("$"));
                &after[1..]
            }
            Some('{') => {
                let end = after.find('}').ok_or_else(|| format!("`${after}` has no closing brace"))?;
                let name = &after[1..end];
                // A name, and keys of the map that it means.
                if name.split('.').any(|part| part.is_empty() || letters(part) < part.len()) {
                    return Err(format!("`${{{name}}}` is not the name of a variable or an axis"));
                }
                pieces.push(Piece::Name(name));
                &after[end + 1..]
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let end = letters(after);
                pieces.push(Piece::Name(&after[..end]));
                &after[end..]
            }
            _ => {
                pieces.push(Piece::Text("$"));
                after
            }
        };
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}
