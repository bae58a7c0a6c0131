//! Resolves the axes of a stage's own matrix, with their values and labels.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use super::substitute::Scope;
use super::variables::Variables;
use crate::spec::StageSpec;
use cwm_core::{Content, Diagnostic, Node, Place, Problems, SpannedStr, is_label, visible};

/// An axis, shared by the stage that declares it and those that have a cell for each of that stage's.
#[derive(Debug)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// The place of its declaration.
    pub place: Place,
    /// The stage that declares it, by number.
    pub owner: usize,
    /// Its values, in order. None if it is wrong, which was reported.
    pub values: Vec<AxisValue>,
    /// The number of each value, by label.
    pub numbers: HashMap<String, usize>,
    /// True if a stage uses it.
    pub is_used: Cell<bool>,
}

/// A value of an axis.
#[derive(Debug)]
pub struct AxisValue {
    /// Its label.
    pub label: String,
    /// The value of `$axis`.
    pub node: Node,
}

/// Returns the axes that `stage` (by number `owner`) declares.
pub fn own_axes(stage: &StageSpec, owner: usize, variables: &Variables, problems: &Problems) -> Vec<Rc<Axis>> {
    let axis = |(name, written): &(SpannedStr, Node)| {
        let mut values = values(name, written, &Scope::of_variables(variables, problems));
        if let Some(variable) = variables.get(&name.text) {
            let message = format!("`{}` is a variable and cannot be an axis as well", name.text);
            problems.push(
                Diagnostic::at(name.place, message)
                    .related(variable.value.place, "the variable")
                    .hint(format!("rename one of them: `${}` would mean both", name.text)),
            );
            values.clear();
        }
        let numbers = values.iter().enumerate().map(|(number, value)| (value.label.clone(), number)).collect();
        Rc::new(Axis { name: name.text.clone(), place: name.place, owner, values, numbers, is_used: Cell::new(false) })
    };
    stage.matrix.iter().map(axis).collect()
}

/// Returns the values of an axis: those of a list, or those of a map, whose keys are the labels.
fn values(name: &SpannedStr, written: &Node, scope: &Scope) -> Vec<AxisValue> {
    let problems = scope.problems;
    let is_variable = written.text().is_some_and(|text| text.starts_with('$'));
    let Some(node) = (if is_variable { scope.node(written) } else { Some(written.clone()) }) else { return Vec::new() };
    let written: Vec<(Option<&SpannedStr>, &Node)> = match &node.content {
        Content::List(items) => items.iter().map(|item| (None, item)).collect(),
        Content::Map(_) => {
            problems.map(&node, "an axis", "labels").into_iter().map(|(label, value)| (Some(label), value)).collect()
        }
        Content::Scalar(_) => {
            let message = format!("axis `{}` must be a list of values or a map from label to value", name.text);
            problems.push(node.problem(message).hint("one value is written `[value]`"));
            return Vec::new();
        }
    };
    if written.is_empty() {
        problems.push(node.problem(format!("axis `{}` has no values", name.text)));
    }
    let mut seen: HashMap<String, Place> = HashMap::new();
    let mut values = Vec::new();
    for (label, value) in written {
        if label.is_none() && value.scalar().is_none() {
            let message = format!("{} as a value of an axis needs a label", value.kind());
            problems.push(value.problem(message).hint("write the axis as a map: `{ label: value }`"));
            continue;
        }
        let Some(node) = scope.node(value) else { continue };
        let own = || SpannedStr { text: node.value().to_string(), place: node.place };
        let SpannedStr { text: label, place } = label.cloned().unwrap_or_else(own);
        if !is_label(&label) {
            problems.push(Diagnostic::at(place, format!("`{}` cannot be a label", visible(&label))).hint(
                "a label has no `[`, `]`, `,`, `=`, no control characters, and no space around it: `{ label: value }`",
            ));
        } else if let Some(first) = seen.insert(label.clone(), place) {
            let message = format!("axis `{}` has `{label}` twice", name.text);
            problems.push(Diagnostic::at(place, message).related(first, "the first"));
        } else {
            values.push(AxisValue { label, node });
        }
    }
    values
}
