//! The cells of each stage: those of the stage that `each` names, multiplied by its own matrix.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use cwm_contract::Label;

use super::axes::{Axis, AxisValue, own_axes};
use super::order::{EACH, Edges, Order, order};
use super::variables::Variables;
use crate::spec::{Spec, StageSpec};
use cwm_core::{Diagnostic, Problems, suggest, visible};

/// The most cells of a pipeline; more are a mistake.
const MOST_CELLS: usize = 200_000;

/// The cells of one stage.
#[derive(Clone, Debug, Default)]
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
                    Diagnostic::at(each.place, format!("there is no stage `{}`", visible(&each.text)))
                        .maybe_hint(suggest(&each.text, "stages", names)),
                );
            }
        }
    }
    let Order { stages: order, in_circles } = order(spec, &parents, EACH, problems);
    let mut matrices: Vec<Matrix> = vec![Matrix::default(); stages.len()];
    let mut total = 0;
    for number in order {
        let stage = &stages[number];
        let mut matrix = match (&stage.each, parents[number].keys().next()) {
            (None, _) => Matrix { labels: vec![Label::stage(&stage.name.text)], ..Matrix::default() },
            (Some(_), Some(&parent)) if !in_circles.contains(&number) => {
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

/// Returns the number of cells of a stage that adds its `own` axes to those that it has from another one, which is added to `total`.
/// It is 0 if the axes are wrong or the cells are too many, which is reported.
fn count_cells(matrix: &Matrix, own: &[Rc<Axis>], stage: &StageSpec, total: &mut usize, problems: &Problems) -> usize {
    for axis in own {
        if let Some(inherited) = matrix.axes.iter().find(|other| other.name == axis.name) {
            let each = stage.each.as_ref().map_or("", |each| each.text.as_str());
            let message = format!("axis `{}` comes from `{each}` already", axis.name);
            problems.push(Diagnostic::at(axis.place, message).related(inherited.place, "there"));
            return 0;
        }
    }
    let count = own.iter().try_fold(matrix.labels.len(), |count, axis| count.checked_mul(axis.values.len()));
    if let Some(count) = count.filter(|count| count.saturating_add(*total) <= MOST_CELLS) {
        *total += count;
        return count;
    }
    let here = count.map_or("far too many".into(), |count| count.to_string());
    let message = format!("this pipeline has more than {MOST_CELLS} cells; `{}` alone has {here}", stage.name.text);
    problems
        .push(Diagnostic::at(stage.name.place, message).hint("make the matrix smaller, or several pipelines of it"));
    0
}
