//! Resolves the axes of a stage's own matrix, with their values and labels.

use std::collections::HashMap;
use std::rc::Rc;

use super::substitute::Scope;
use super::variables::Variables;
use crate::spec::{AxisSpec, AxisValueSpec, StageSpec, bad_label};
use cwm_core::{Content, Diagnostic, Diagnostics, Node, Place, SpannedStr, is_label};

/// An axis, shared by the stage that declares it and those that have a cell for each of that stage's.
#[derive(Debug)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// The place of its declaration.
    pub place: Place,
    /// The stage that declares it, by number.
    pub owner: usize,
    /// Its values, in order.
    pub values: Vec<AxisValue>,
}

/// A value of an axis.
#[derive(Debug)]
pub struct AxisValue {
    /// Its label.
    pub label: String,
    /// A number for the label, equal for equal labels anywhere in the pipeline.
    pub id: u32,
    /// The value of `$axis`.
    pub node: Node,
}

/// Numbers labels.
#[derive(Default)]
pub struct Labels(HashMap<String, u32>);

impl Labels {
    /// Returns the number of a label.
    pub fn id(&mut self, label: &str) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(label.to_owned()).or_insert(next)
    }

    /// Returns the number of a label, if it has one.
    pub fn find(&self, label: &str) -> Option<u32> {
        self.0.get(label).copied()
    }
}

/// Returns the axes that `stage` (by number `owner`) declares, without those that have no right value.
pub fn own_axes(
    stage: &StageSpec,
    owner: usize,
    variables: &Variables,
    labels: &mut Labels,
    problems: &mut Diagnostics,
) -> Vec<Rc<Axis>> {
    let mut axes = Vec::new();
    for spec in &stage.matrix {
        if let Some(variable) = variables.get(&spec.name.text) {
            problems.push(
                Diagnostic::at(
                    spec.name.place,
                    format!("`{}` is a variable and cannot be an axis as well", spec.name.text),
                )
                .related(variable.place, "the variable")
                .hint(format!("rename one of them: `${}` would mean both", spec.name.text)),
            );
            continue;
        }
        let values = values(spec, variables, labels, problems);
        if !values.is_empty() {
            axes.push(Rc::new(Axis { name: spec.name.text.clone(), place: spec.name.place, owner, values }));
        }
    }
    axes
}

fn values(spec: &AxisSpec, variables: &Variables, labels: &mut Labels, problems: &mut Diagnostics) -> Vec<AxisValue> {
    let mut seen: HashMap<String, Place> = HashMap::new();
    let mut values = Vec::new();
    let of_variable = match &spec.variable {
        Some(variable) => of_variable(spec, variable, variables, problems),
        None => Vec::new(),
    };
    for value in spec.values.iter().chain(&of_variable) {
        let Some(node) = Scope::new(variables).node(&value.value, problems) else { continue };
        let label =
            value.label.clone().unwrap_or_else(|| SpannedStr { text: node.value().to_string(), place: node.place });
        if !is_label(&label.text) {
            problems.push(bad_label(&label));
            continue;
        }
        if let Some(first) = seen.insert(label.text.clone(), label.place) {
            problems.push(
                Diagnostic::at(label.place, format!("axis `{}` has `{}` twice", spec.name.text, label.text))
                    .related(first, "the first"),
            );
            continue;
        }
        values.push(AxisValue { id: labels.id(&label.text), label: label.text, node });
    }
    values
}

/// Returns the values of an axis that is written as `$name`.
fn of_variable(
    spec: &AxisSpec,
    variable: &Node,
    variables: &Variables,
    problems: &mut Diagnostics,
) -> Vec<AxisValueSpec> {
    let Some(node) = Scope::new(variables).node(variable, problems) else { return Vec::new() };
    let from = node.origin.unwrap_or(node.place);
    match node.content {
        Content::List(items) if !items.is_empty() => {
            items.into_iter().map(|value| AxisValueSpec { label: None, value }).collect()
        }
        Content::List(_) => {
            let message = format!("axis `{}` has no values", spec.name.text);
            problems.push(Diagnostic::at(variable.place, message).related(from, "the list"));
            Vec::new()
        }
        Content::Scalar(_) | Content::Map(_) => {
            let message = format!("axis `{}` must be given a list, and this is {}", spec.name.text, node.kind());
            problems.push(
                Diagnostic::at(variable.place, message)
                    .related(from, "its value")
                    .hint("a list of one is written `[value]`"),
            );
            Vec::new()
        }
    }
}
