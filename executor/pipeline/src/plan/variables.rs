//! Variables: their values in the file, and what `--set` makes of them.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

use crate::spec::{parse_yaml, unfit_for_variable};
use cwm_core::{Diagnostic, Node, Place, Problems, SourceText, SpannedStr, escape_controls, list_names, nearest};

use super::substitute::Scope;

/// A variable.
pub struct Variable {
    /// Its value, with the place where it was written.
    pub value: Node,
    /// True if something uses it.
    pub is_used: Cell<bool>,
}

/// Variables by name.
pub type Variables = HashMap<String, Variable>;

/// Returns the values of all `--set`, for messages.
pub fn set_sources(sets: &[(String, String)]) -> impl Iterator<Item = SourceText> {
    sets.iter().map(|(name, value)| SourceText { name: format!("--set {name}"), text: value.clone() })
}

/// Returns the values of `--set` by variable, equal values in one form: `[0]` for `[ 0 ]`. A run is recorded by them. A value
/// that is no YAML stays as it was typed; [`variables`] reports it.
pub fn set_values(sets: &[(String, String)]) -> BTreeMap<String, String> {
    sets.iter().map(|(name, text)| (name.clone(), normalize(text))).collect()
}

/// Returns the form of a value that all texts of that value have: the plain one if it is read as this value, else JSON.
fn normalize(text: &str) -> String {
    let read = |text: &str| parse_yaml(text, 0).ok().map(|node| node.value());
    let Some(value) = read(text) else { return text.to_owned() };
    let json = serde_json::to_string(&value).ok();
    let mut forms = [Some(value.to_string()), json].into_iter().flatten();
    forms.find(|form| read(form).as_ref() == Some(&value)).unwrap_or_else(|| text.to_owned())
}

/// Returns the variables of the file with `sets` in place of what they override.
pub fn variables(written: &[(SpannedStr, Node)], sets: &[(String, String)], problems: &Problems) -> Variables {
    let scope = Scope { variables: None, matrix: None, cell: None, problems };
    let in_file = written.iter().map(|(name, value)| (&name.text, scope.node(value).unwrap_or_else(|| value.clone())));
    let mut values: HashMap<&String, Node> = in_file.collect();
    for (index, (name, text)) in sets.iter().enumerate() {
        let source = index as u32 + 1;
        let place = Place::in_text(source, text, 0..text.len());
        if sets[..index].iter().any(|(earlier, _)| earlier == name) {
            problems.push(Diagnostic::at(place, format!("`{}` is set twice", escape_controls(name))));
        }
        if !values.contains_key(name) {
            let known: Vec<_> = written.iter().map(|(name, _)| name.text.as_str()).collect();
            let listed = list_names(&known).map_or("it has none".into(), |list| format!("it has {list}"));
            let message = format!("this pipeline has no variable `{}`; {listed}", escape_controls(name));
            let meant = nearest(name, known).map(|near| format!("did you mean `{near}`?"));
            problems.push(Diagnostic::at(place, message).maybe_hint(meant));
            continue;
        }
        let value = parse_yaml(text, source).and_then(|node| match unfit_for_variable(&node) {
            Some(unfit) => Err(Diagnostic::at(node.place, format!("a variable cannot be {unfit}"))),
            None => Ok(node),
        });
        let value = value.map_err(|problem| problem.hint("quote it if it is text: --set 'name=\"…\"'"));
        values.extend(problems.ok(value).map(|value| (name, value)));
    }
    let variable = |(name, value): (&String, Node)| (name.clone(), Variable { value, is_used: Cell::new(false) });
    values.into_iter().map(variable).collect()
}

#[cfg(test)]
mod tests {
    use super::normalize;

    #[test]
    fn equal_values_have_one_form_which_is_read_as_the_same_value() {
        for (texts, form) in [
            (&["[0]", "[ 0 ]", "- 0"][..], "[0]"),
            (&["[a, 'b']", "[\"a\",b]"], "[a, b]"),
            (&["['1', a]", "[ \"1\", a ]"], "[\"1\",\"a\"]"),
            (&["9", " 9", "0x9"], "9"),
            (&["1e-3", "0.001", "1.0e-3"], "0.001"),
            (&["9.0"], "9.0"),
            (&["'9'", "\"9\""], "\"9\""),
            (&["x y.pgn", "'x y.pgn'"], "x y.pgn"),
            (&["", "null"], "null"),
            (&["''"], "\"\""),
            (&["[0"], "[0"),
        ] {
            for text in texts {
                assert_eq!(normalize(text), form, "{text:?}");
            }
        }
    }
}
