//! The cells of each stage: `each` followed, the matrix multiplied out.

use std::rc::Rc;

use cwm_contract::Label;

use super::axes::{Axis, Labels, own_axes};
use super::variables::Variables;
use crate::spec::Spec;
use cwm_core::{Diagnostic, Diagnostics, Node, suggest, visible};

/// More cells than this are taken for a mistake.
const MOST_CELLS: usize = 200_000;

/// The cells of one stage.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    /// Its axes, those of the stage that `each` names first.
    pub axes: Vec<Rc<Axis>>,
    /// Of each cell, the number of its value on each axis.
    pub cells: Vec<Vec<u32>>,
    /// The stage that `each` names, by number.
    pub each: Option<usize>,
}

impl Matrix {
    /// The position of the axis of that name.
    pub fn axis(&self, name: &str) -> Option<usize> {
        self.axes.iter().position(|axis| axis.name == name)
    }

    /// The number of a cell's label on an axis.
    pub fn id(&self, cell: usize, axis: usize) -> u32 {
        self.axes[axis].values[self.cells[cell][axis] as usize].id
    }

    /// Returns the values of `$axis` in a cell.
    pub fn bindings(&self, cell: usize) -> Vec<(&str, &Node)> {
        let coordinates = self.axes.iter().zip(&self.cells[cell]);
        coordinates.map(|(axis, &value)| (axis.name.as_str(), &axis.values[value as usize].node)).collect()
    }

    /// The address of a cell of the stage named `stage`.
    pub fn label(&self, stage: &str, cell: usize) -> Label {
        let coordinates = self.axes.iter().zip(&self.cells[cell]);
        Label {
            stage: stage.to_owned(),
            coordinates: coordinates
                .map(|(axis, &value)| (axis.name.clone(), axis.values[value as usize].label.clone()))
                .collect(),
        }
    }
}

/// The cells of all stages; `None` for a stage whose axes are not right, which is reported.
pub fn grids(
    spec: &Spec,
    find: impl Fn(&str) -> Option<usize>,
    variables: &Variables,
    labels: &mut Labels,
    problems: &mut Diagnostics,
) -> Vec<Option<Matrix>> {
    let stages = &spec.stages;
    let parents: Vec<Option<Option<usize>>> = stages
        .iter()
        .map(|stage| {
            let Some(each) = &stage.each else { return Some(None) };
            let found = find(&each.text);
            if found.is_none() {
                let names = stages.iter().map(|stage| stage.name.text.as_str());
                problems.push(
                    Diagnostic::at(each.place, format!("there is no stage `{}`", visible(&each.text)))
                        .maybe_hint(suggest(&each.text, "stages", names)),
                );
            }
            found.map(Some)
        })
        .collect();
    let mut grids: Vec<Option<Matrix>> = vec![None; stages.len()];
    let mut done = vec![false; stages.len()];
    let mut total = 0;
    for start in 0..stages.len() {
        // From this stage to the first one that is done or stands alone; then back.
        let mut path = Vec::new();
        let mut on_path = std::collections::HashSet::new();
        let mut next = Some(start);
        while let Some(stage) = next.filter(|&stage| !done[stage]) {
            if !on_path.insert(stage) {
                let cycle: Vec<usize> = path[path.iter().position(|&other| other == stage).unwrap_or(0)..].to_vec();
                report_cycle(spec, &cycle, problems);
                break;
            }
            path.push(stage);
            next = parents[stage].flatten();
        }
        let cyclic = next.is_some_and(|stage| on_path.contains(&stage));
        for &stage in path.iter().rev() {
            done[stage] = true;
            let own = own_axes(&stages[stage], stage, variables, labels, problems);
            let base = match parents[stage] {
                _ if cyclic => None,
                None => None,
                Some(None) => Some(Matrix { axes: Vec::new(), cells: vec![Vec::new()], each: None }),
                Some(Some(parent)) => grids[parent].as_ref().map(|grid| Matrix { each: Some(parent), ..grid.clone() }),
            };
            let complete = own.len() == stages[stage].matrix.len();
            grids[stage] =
                base.filter(|_| complete).and_then(|base| multiply(base, own, &stages[stage], &mut total, problems));
        }
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

fn report_cycle(spec: &Spec, cycle: &[usize], problems: &mut Diagnostics) {
    let name = |stage: usize| spec.stages[stage].name.text.as_str();
    let step = |index: usize| {
        let stage = &spec.stages[cycle[index]];
        let place = stage.each.as_ref().map_or(stage.name.place, |each| each.place);
        (place, format!("`{}` has `each: {}`", stage.name.text, name(cycle[(index + 1) % cycle.len()])))
    };
    let steps: Vec<_> = (0..cycle.len()).map(step).collect();
    let messages = steps.iter().map(|(_, messages)| messages.as_str()).collect::<Vec<_>>().join(", ");
    let mut steps = steps.into_iter();
    let Some((place, label)) = steps.next() else { return };
    let mut problem = Diagnostic::at(place, format!("`each` goes round in a circle: {messages}")).label(label);
    for (place, messages) in steps {
        problem = problem.related(place, messages);
    }
    problems.push(problem);
}
