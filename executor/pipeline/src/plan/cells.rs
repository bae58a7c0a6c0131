//! The cells of each stage: those of the stage that `each` names, multiplied by the axes of its own matrix.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use cwm_contract::Label;

use super::order::{EACH, Edges, Order, order};
use super::substitute::Scope;
use super::variables::Variables;
use crate::spec::{Spec, StageSpec};
use cwm_core::{Content, Diagnostic, Node, Place, Problems, SpannedStr, escape_controls, is_label, suggest};

/// The most cells of a pipeline; more are a mistake.
const MOST_CELLS: usize = 200_000;

/// An axis, shared by the stage that declares it and those that have a cell for each of that stage's.
pub struct Axis {
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
pub struct AxisValue {
    pub label: String,
    /// The value of `$axis`.
    pub node: Node,
}

/// The cells of one stage.
#[derive(Clone, Default)]
pub struct Matrix {
    /// Its axes, those of the stage that `each` names first.
    pub axes: Vec<Rc<Axis>>,
    /// The labels of the cells: each combination of the axes' values, the last axis first to change. Empty if the axes are wrong;
    /// that problem was reported.
    pub labels: Vec<Label>,
    /// The stage that `each` names, by number.
    pub each: Option<usize>,
    /// True if `each` names an unknown stage, or is part of a circle: its axes are then unknown.
    pub is_open: bool,
}

impl Matrix {
    /// Returns the position of the axis of that name.
    pub fn axis(&self, name: &str) -> Option<usize> {
        self.axes.iter().position(|axis| axis.name == name)
    }

    /// Returns the value of an axis, by its position, in a cell.
    pub fn value(&self, cell: usize, axis: usize) -> &AxisValue {
        let combinations_after: usize = self.axes[axis + 1..].iter().map(|axis| axis.values.len()).product();
        let values = &self.axes[axis].values;
        &values[cell / combinations_after % values.len()]
    }

    fn label(&self, stage: &str, cell: usize) -> Label {
        let coordinate = |(at, axis): (usize, &Rc<Axis>)| (axis.name.clone(), self.value(cell, at).label.clone());
        Label { stage: stage.to_owned(), coordinates: self.axes.iter().enumerate().map(coordinate).collect() }
    }
}

/// Returns the matrices of all stages. `numbers` are those of the stages, by name.
pub fn matrices(
    spec: &Spec,
    numbers: &HashMap<&str, usize>,
    variables: &Variables,
    problems: &Problems,
) -> Vec<Matrix> {
    let stages = &spec.stages;
    let mut parents: Edges = vec![BTreeMap::new(); stages.len()];
    for (stage, parents) in stages.iter().zip(&mut parents) {
        let Some(each) = &stage.each else { continue };
        match numbers.get(each.text.as_str()) {
            Some(&parent) => _ = parents.insert(parent, each.place),
            None => {
                let names = stages.iter().map(|stage| stage.name.text.as_str());
                problems.push(
                    Diagnostic::at(each.place, format!("there is no stage `{}`", escape_controls(&each.text)))
                        .maybe_hint(suggest(&each.text, "stages", names)),
                );
            }
        }
    }
    let Order { stages: order, in_cycles } = order(spec, &parents, EACH, problems);
    let mut matrices: Vec<Matrix> = vec![Matrix::default(); stages.len()];
    let mut total = 0;
    for number in order {
        let stage = &stages[number];
        let mut matrix = match (&stage.each, parents[number].keys().next()) {
            (None, _) => Matrix { labels: vec![Label::stage(&stage.name.text)], ..Matrix::default() },
            (Some(_), Some(&parent)) if !in_cycles.contains(&number) => {
                Matrix { each: Some(parent), ..matrices[parent].clone() }
            }
            (Some(_), _) => Matrix { is_open: true, ..Matrix::default() },
        };
        let own = own_axes(stage, number, variables, problems);
        let count = count_cells(&matrix, &own, stage, &mut total, problems);
        matrix.axes.extend(own);
        matrix.labels = (0..count).map(|cell| matrix.label(&stage.name.text, cell)).collect();
        matrices[number] = matrix;
    }
    matrices
}

/// Returns the number of cells of a stage that adds its `own` axes to those that it has from another one, which is added to
/// `total`. It is 0 if the axes are wrong or the cells are too many, which is reported.
fn count_cells(matrix: &Matrix, own: &[Rc<Axis>], stage: &StageSpec, total: &mut usize, problems: &Problems) -> usize {
    for axis in own {
        if let Some(inherited) = matrix.axes.iter().find(|other| other.name == axis.name) {
            let each = stage.each.as_ref().map_or("", |each| each.text.as_str());
            let message = format!("axis `{}` comes from `{each}` already", axis.name);
            problems.push(Diagnostic::at(axis.place, message).related(inherited.place, "there"));
            return 0;
        }
    }
    let count = own.iter().fold(matrix.labels.len(), |count, axis| count.saturating_mul(axis.values.len()));
    if total.saturating_add(count) <= MOST_CELLS {
        *total += count;
        return count;
    }
    let message = format!("with those of `{}` this pipeline has more than {MOST_CELLS} cells", stage.name.text);
    problems
        .push(Diagnostic::at(stage.name.place, message).hint("make the matrix smaller, or several pipelines of it"));
    0
}

/// Returns the axes that `stage` (by number `owner`) declares.
fn own_axes(stage: &StageSpec, owner: usize, variables: &Variables, problems: &Problems) -> Vec<Rc<Axis>> {
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
        Content::Map(entries) => entries.iter().map(|(label, value)| (Some(label), value)).collect(),
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
            problems.push(Diagnostic::at(place, format!("`{}` cannot be a label", escape_controls(&label))).hint(
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
