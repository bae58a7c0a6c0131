//! Variables: their values in the file, and what `--set` makes of them.

use std::collections::HashMap;

use crate::spec::{is_of_variable, not_of_variable, parse_yaml};
use cwm_core::names::list;
use cwm_core::{Diagnostic, Diagnostics, Node, Source, SpannedStr, nearest, visible};

use super::substitute::Scope;

/// Variables by name; each value knows where it was written.
pub type Variables = HashMap<String, Node>;

const QUOTE: &str = "quote it if it is text: --set 'name=\"…\"'";

/// The texts of all `--set`, for messages.
pub fn set_sources(sets: &[(String, String)]) -> impl Iterator<Item = Source> {
    sets.iter().map(|(name, value)| Source { name: "--set".into(), text: format!("{name}={value}") })
}

/// The variables of the file with `sets` in place of what they override; of several for one the last counts.
pub fn variables(written: &[(SpannedStr, Node)], sets: &[(String, String)], problems: &mut Diagnostics) -> Variables {
    let mut variables = Variables::new();
    let none = Variables::new();
    for (name, value) in written {
        let mut scope = Scope::new(&none).inside_variable();
        let value = scope.node(value, problems).unwrap_or_else(|| value.clone());
        variables.insert(name.text.clone(), value);
    }
    for (index, (name, text)) in sets.iter().enumerate() {
        let source = index as u32 + 1;
        let parsed = parse_yaml(text, source).map_err(|fault| *fault).and_then(|node| match is_of_variable(&node) {
            true => Ok(node),
            false => Err(Diagnostic::at(node.place, format!("a variable cannot be {}", not_of_variable(&node)))),
        });
        let known = written.iter().map(|(name, _)| name.text.as_str()).collect::<Vec<_>>();
        match parsed {
            _ if !known.contains(&name.as_str()) => {
                let place = cwm_core::Place { source, start: 0, end: name.len() as u32, line: 1, column: 1 };
                let listed = list(&known).map_or("it has none".into(), |list| format!("it has {list}"));
                problems.push(
                    Diagnostic::at(place, format!("this pipeline has no variable `{}`; {listed}", visible(name)))
                        .maybe_hint(nearest(name, known).map(|near| format!("did you mean `{near}`?"))),
                );
            }
            Ok(mut node) => {
                node.place = shifted(node.place, name);
                variables.insert(name.clone(), node);
            }
            Err(mut fault) => {
                fault.place = fault.place.map(|place| shifted(place, name));
                fault.hint = fault.hint.or_else(|| Some(QUOTE.into()));
                problems.push(fault);
            }
        }
    }
    variables
}

/// A place in the value as a place in `name=value`.
fn shifted(mut place: cwm_core::Place, name: &str) -> cwm_core::Place {
    let before = name.len() as u32 + 1;
    place.start += before;
    place.end += before;
    if place.line == 1 {
        place.column += name.chars().count() as u32 + 1;
    }
    place
}
