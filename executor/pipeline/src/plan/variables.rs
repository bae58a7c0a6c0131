//! Variables: their values in the file, and what `--set` makes of them.

use std::cell::Cell;
use std::collections::HashMap;

use crate::spec::{parse_yaml, unfit_for_variable};
use cwm_core::names::list;
use cwm_core::{Diagnostic, Node, Place, Problems, Source, SpannedStr, nearest, visible};

use super::substitute::Scope;

/// A variable.
#[derive(Debug)]
pub struct Variable {
    /// Its value, with the place where it was written.
    pub value: Node,
    /// True if something uses it.
    pub is_used: Cell<bool>,
}

/// Variables by name.
pub type Variables = HashMap<String, Variable>;

/// The texts of all `--set`, for messages.
pub fn set_sources(sets: &[(String, String)]) -> impl Iterator<Item = Source> {
    sets.iter().map(|(name, value)| Source { name: "--set".into(), text: format!("{name}={value}") })
}

/// The variables of the file with `sets` in place of what they override.
pub fn variables(written: &[(SpannedStr, Node)], sets: &[(String, String)], problems: &Problems) -> Variables {
    let scope = Scope { variables: None, matrix: None, cell: None, problems };
    let in_file = written.iter().map(|(name, value)| (&name.text, scope.node(value).unwrap_or_else(|| value.clone())));
    let mut values: HashMap<&String, Node> = in_file.collect();
    for (index, (name, text)) in sets.iter().enumerate() {
        let source = index as u32 + 1;
        let place = Place { source, start: 0, end: name.len() as u32, line: 1, column: 1 };
        if sets[..index].iter().any(|(earlier, _)| earlier == name) {
            problems.push(Diagnostic::at(place, format!("`{}` is set twice", visible(name))));
        }
        if !values.contains_key(name) {
            let known: Vec<_> = written.iter().map(|(name, _)| name.text.as_str()).collect();
            let listed = list(&known).map_or("it has none".into(), |list| format!("it has {list}"));
            let message = format!("this pipeline has no variable `{}`; {listed}", visible(name));
            let meant = nearest(name, known).map(|near| format!("did you mean `{near}`?"));
            problems.push(Diagnostic::at(place, message).maybe_hint(meant));
            continue;
        }
        let value = parse_yaml(text, source).and_then(|node| match unfit_for_variable(&node) {
            Some(unfit) => Err(Diagnostic::at(node.place, format!("a variable cannot be {unfit}"))),
            None => Ok(Node { place: shifted(node.place, name), ..node }),
        });
        let value = value.map_err(|mut problem| {
            problem.place = problem.place.map(|place| shifted(place, name));
            problem.hint.get_or_insert("quote it if it is text: --set 'name=\"…\"'".into());
            problem
        });
        values.extend(problems.ok(value).map(|value| (name, value)));
    }
    let variable = |(name, value): (&String, Node)| (name.clone(), Variable { value, is_used: Cell::new(false) });
    values.into_iter().map(variable).collect()
}

/// A place in the value as a place in `name=value`.
fn shifted(mut place: Place, name: &str) -> Place {
    let before = name.len() as u32 + 1;
    place.start += before;
    place.end += before;
    if place.line == 1 {
        place.column += name.chars().count() as u32 + 1;
    }
    place
}
