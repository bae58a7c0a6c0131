//! `$name`: variables and axes put into values.
//!
//! Text that is exactly `$name` or `${name}` becomes the typed value; inside longer text the value is inserted as text;
//! `${name.key}` is what the map that is the value of an axis holds under that key; `$$` is a dollar. A `$` before anything but a letter, `_`, `{` or `$` is itself.

use std::collections::BTreeSet;

use cwm_contract::Value;

use super::variables::Variables;
use cwm_core::names::list;
use cwm_core::{Content, Diagnostic, Diagnostics, Node, Place, nearest, suggest};

/// The names that are defined at one place: the variables, and the axes of one cell.
pub struct Scope<'a> {
    variables: &'a Variables,
    axes: Vec<(&'a str, &'a Node)>,
    /// Names of the axes that were used so far.
    pub used: BTreeSet<&'a str>,
    inside_variable: bool,
    /// Names that stand for something which is not known because of another fault.
    lost: Lost<'a>,
}

/// Names that are not known because of another problem, which was reported.
enum Lost<'a> {
    Nothing,
    /// The values of these axes.
    Values(BTreeSet<&'a str>),
    /// Which axes there are.
    Axes,
}

enum Piece<'t> {
    Text(&'t str),
    Name(&'t str),
}

impl<'a> Scope<'a> {
    /// Only variables.
    pub fn new(variables: &'a Variables) -> Self {
        Scope { variables, axes: Vec::new(), used: BTreeSet::new(), inside_variable: false, lost: Lost::Nothing }
    }

    /// Variables and axes.
    pub fn with_axes(variables: &'a Variables, axes: Vec<(&'a str, &'a Node)>) -> Self {
        Scope { axes, ..Scope::new(variables) }
    }

    /// Variables, and axes whose values are not known because of another fault; `None`: nor is it known which axes there are.
    /// Their values are `None` without a report.
    pub fn with_lost_axes(variables: &'a Variables, axes: Option<BTreeSet<&'a str>>) -> Self {
        Scope { lost: axes.map_or(Lost::Axes, Lost::Values), ..Scope::new(variables) }
    }

    /// For the value of a variable, where there are no others.
    pub fn inside_variable(mut self) -> Self {
        self.inside_variable = true;
        self
    }

    /// `node` with every name in its texts (not in its keys) replaced; `None` when something was wrong, which is
    /// reported.
    pub fn node(&mut self, node: &Node, problems: &mut Diagnostics) -> Option<Node> {
        let content = match &node.content {
            Content::Scalar(Value::Text(text)) if text.contains('$') => return self.text(text, node, problems),
            Content::Scalar(_) => return Some(node.clone()),
            // No `collect` into an `Option`: every item is resolved, so that all problems are reported.
            Content::List(items) => {
                let done: Vec<_> = items.iter().map(|item| self.node(item, problems)).collect();
                Content::List(done.into_iter().collect::<Option<_>>()?)
            }
            Content::Map(entries) => {
                let done: Vec<_> =
                    entries.iter().map(|(key, item)| Some((key.clone(), self.node(item, problems)?))).collect();
                Content::Map(done.into_iter().collect::<Option<_>>()?)
            }
        };
        Some(Node { content, ..node.clone() })
    }

    fn text(&mut self, text: &str, node: &Node, problems: &mut Diagnostics) -> Option<Node> {
        let pieces = match pieces(text) {
            Ok(pieces) => pieces,
            Err(message) => {
                self.may_mean_any();
                problems.push(Diagnostic::at(node.place, message).hint("`$$` stands for a dollar"));
                return None;
            }
        };
        if let [Piece::Name(name)] = pieces[..] {
            let bound = self.get(name, node.place, problems)?;
            return Some(Node {
                place: node.place,
                origin: bound.origin.or(Some(bound.place)),
                content: bound.content.clone(),
            });
        }
        let mut out = String::with_capacity(text.len());
        let mut origin = None;
        let mut whole = true;
        for (index, piece) in pieces.iter().enumerate() {
            let name = match piece {
                Piece::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Piece::Name(name) => name,
            };
            let Some(bound) = self.get(name, node.place, problems) else {
                whole = false;
                continue;
            };
            match bound.scalar() {
                Some(value) => out.push_str(&value.to_string()),
                None => {
                    problems.push(
                        Diagnostic::at(
                            node.place,
                            format!("`${name}` is {} and cannot stand inside text", bound.kind()),
                        )
                        .related(bound.place, "its value"),
                    );
                    whole = false;
                }
            }
            if index == 0 {
                origin = bound.origin.or(Some(bound.place));
            }
        }
        whole.then_some(Node { place: node.place, origin, content: Content::Scalar(Value::Text(out)) })
    }

    /// After a fault: what was meant may be any of the axes, so none is called unused.
    fn may_mean_any(&mut self) {
        self.used.extend(self.axes.iter().map(|(axis, _)| *axis));
    }

    /// The value of `name`, or of `name.key`.
    fn get(&mut self, name: &str, place: Place, problems: &mut Diagnostics) -> Option<&'a Node> {
        let mut keys = name.split('.');
        let mut found = self.whole(keys.next().unwrap_or_default(), place, problems)?;
        for key in keys {
            match entry(found, name, key, place) {
                Ok(inner) => found = inner,
                Err(problem) => {
                    problems.push(*problem);
                    return None;
                }
            }
        }
        Some(found)
    }

    /// The value of a variable or an axis.
    fn whole(&mut self, name: &str, place: Place, problems: &mut Diagnostics) -> Option<&'a Node> {
        if let Some((axis, value)) = self.axes.iter().find(|(axis, _)| *axis == name) {
            self.used.insert(axis);
            return Some(value);
        }
        if let Some(value) = self.variables.get(name) {
            return Some(value);
        }
        match &self.lost {
            Lost::Axes => return None,
            Lost::Values(axes) if axes.contains(name) => return None,
            Lost::Nothing | Lost::Values(_) => self.may_mean_any(),
        }
        let problem = Diagnostic::at(place, format!("nothing here is named `${name}`"));
        problems.push(if self.inside_variable {
            problem.hint("a variable cannot use another one; `$$` stands for a dollar")
        } else {
            let mut names: Vec<&str> = self.axes.iter().map(|(axis, _)| *axis).collect();
            let mut variables: Vec<&str> = self.variables.keys().map(String::as_str).collect();
            variables.sort_unstable();
            names.extend(variables);
            problem.hint(match (nearest(name, names.iter().copied()), list(&names)) {
                (Some(near), _) => format!("did you mean `${near}`?"),
                (None, Some(list)) => format!("there are {list}; `$$` stands for a dollar"),
                (None, None) => "there are no variables or axes; `$$` stands for a dollar".into(),
            })
        });
        None
    }
}

/// Returns the entry of the map that `${name}` means.
fn entry<'a>(map: &'a Node, name: &str, key: &str, place: Place) -> Result<&'a Node, Box<Diagnostic>> {
    let Content::Map(entries) = &map.content else {
        let problem =
            Diagnostic::at(place, format!("`${{{name}}}` is the key `{key}` of {}, not of a map", map.kind()));
        return Err(Box::new(
            problem
                .related(map.place, "its value")
                .hint("an axis whose values are maps has keys: `{ label: { key: value } }`"),
        ));
    };
    entries.iter().find(|(word, _)| word.text == key).map(|(_, node)| node).ok_or_else(|| {
        let names = entries.iter().map(|(word, _)| word.text.as_str());
        let problem = Diagnostic::at(place, format!("`${{{name}}}`: there is no `{key}`"));
        Box::new(problem.related(map.place, "in here").maybe_hint(suggest(key, "keys", names)))
    })
}

/// The names of variables and axes that a text uses, as far as it can be read.
pub fn names(text: &str) -> Vec<&str> {
    if !text.contains('$') {
        return Vec::new();
    }
    let pieces = pieces(text).unwrap_or_default();
    let names = pieces.into_iter().filter_map(|piece| match piece {
        Piece::Name(name) => name.split('.').next(),
        Piece::Text(_) => None,
    });
    names.collect()
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
