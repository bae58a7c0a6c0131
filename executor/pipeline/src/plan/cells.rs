//! The cells of each stage: those of the stage that `each` names, multiplied by its own matrix.

use std::collections::BTreeMap;
use std::rc::Rc;

use cwm_contract::Label;

use super::axes::{Axis, Labels, own_axes};
use super::order::{EACH, Edges, Order, order};
use super::variables::Variables;
use crate::spec::Spec;
use cwm_core::{Diagnostic, Diagnostics, Node, suggest, visible};

/// The most cells of a pipeline; more are a mistake.
const MOST_CELLS: usize = 200_000;

/// The cells of one stage.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    /// Its axes, those of the stage that `each` names first.
    pub axes: Vec<Rc<Axis>>,
    /// The number of the value on each axis, by cell.
    pub cells: Vec<Vec<u32>>,
    /// The stage that `each` names, by number.
    pub each: Option<usize>,
}

impl Matrix {
    /// Returns the position of the axis of that name.
    pub fn axis(&self, name: &str) -> Option<usize> {
        self.axes.iter().position(|axis| axis.name == name)
    }

    /// Returns the number of a cell's label on an axis.
    pub fn id(&self, cell: usize, axis: usize) -> u32 {
        self.axes[axis].values[self.cells[cell][axis] as usize].id
    }

    /// Returns the values of `$axis` in a cell.
    pub fn bindings(&self, cell: usize) -> Vec<(&str, &Node)> {
        let coordinates = self.axes.iter().zip(&self.cells[cell]);
        coordinates.map(|(axis, &value)| (axis.name.as_str(), &axis.values[value as usize].node)).collect()
    }

    /// Returns the labels of all cells of the stage named `stage`.
    pub fn labels(&self, stage: &str) -> Vec<Label> {
        let label = |cell: &Vec<u32>| Label {
            stage: stage.to_owned(),
            coordinates: self
                .axes
                .iter()
                .zip(cell)
                .map(|(axis, &value)| (axis.name.clone(), axis.values[value as usize].label.clone()))
                .collect(),
        };
        self.cells.iter().map(label).collect()
    }
}

/// Returns the cells of all stages. None for a stage whose axes are wrong, which is reported.
pub fn grids(
    spec: &Spec,
    find: impl Fn(&str) -> Option<usize>,
    variables: &Variables,
    labels: &mut Labels,
    problems: &mut Diagnostics,
) -> Vec<Option<Matrix>> {
    let stages = &spec.stages;
    let mut parents: Edges = vec![BTreeMap::new(); stages.len()];
    for (stage, parents) in stages.iter().zip(&mut parents) {
        let Some(each) = &stage.each else { continue };
        match find(&each.text) {
            Some(parent) => _ = parents.insert(parent, each.place),
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
    let mut grids: Vec<Option<Matrix>> = vec![None; stages.len()];
    let mut total = 0;
    for number in order {
        let stage = &stages[number];
        let own = own_axes(stage, number, variables, labels, problems);
        let base = match (&stage.each, parents[number].keys().next()) {
            _ if in_circles.contains(&number) => None,
            (None, _) => Some(Matrix { axes: Vec::new(), cells: vec![Vec::new()], each: None }),
            (Some(_), None) => None,
            (Some(_), Some(&parent)) => {
                grids[parent].as_ref().map(|grid| Matrix { each: Some(parent), ..grid.clone() })
            }
        };
        let is_complete = own.len() == stage.matrix.len();
        grids[number] = base.filter(|_| is_complete).and_then(|base| multiply(base, own, stage, &mut total, problems));
    }
    grids
}

fn multiply(
    mut grid: Matrix,
    own: Vec<Rc<Axis>>,
    stage: &crate::spec::StageSpec,
    total: &mut usize,
    problems: &mut Diagnostics,
) -> Option<Matrix> {
    for axis in &own {
        if let Some(inherited) = grid.axes.iter().find(|other| other.name == axis.name) {
            let each = stage.each.as_ref().map_or("", |each| each.text.as_str());
            problems.push(
                Diagnostic::at(axis.place, format!("axis `{}` comes from `{each}` already", axis.name))
                    .related(inherited.place, "there"),
            );
            return None;
        }
    }
    let count = own.iter().try_fold(grid.cells.len(), |count, axis| count.checked_mul(axis.values.len()));
    match count.and_then(|count| total.checked_add(count)).filter(|&sum| sum <= MOST_CELLS) {
        Some(sum) => *total = sum,
        None => {
            let here = count.map_or("far too many".into(), |count| count.to_string());
            problems.push(
                Diagnostic::at(
                    stage.name.place,
                    format!("this pipeline has more than {MOST_CELLS} cells; `{}` alone has {here}", stage.name.text),
                )
                .hint("make the matrix smaller, or several pipelines of it"),
            );
            return None;
        }
    }
    for axis in own {
        let values = axis.values.len() as u32;
        grid.cells = grid
            .cells
            .into_iter()
            .flat_map(|cell| {
                (0..values).map(move |value| {
                    let mut cell = cell.clone();
                    cell.push(value);
                    cell
                })
            })
            .collect();
        grid.axes.push(axis);
    }
    Some(grid)
}
