//! Finds axes that no stage uses: their cells would all do the same.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::axes::Axis;
use super::build::PlannedStage;
use cwm_core::{Diagnostic, Diagnostics};

/// Reports each axis that is used neither by its stage nor by one with a cell for each of its cells: by `$axis` in `with`, `from`
/// or `needs`, or by reading a stage that has an axis of its own of that name.
pub fn check(stages: &[PlannedStage], problems: &mut Diagnostics) {
    // By the address of the shared axis.
    let mut in_use: BTreeSet<*const Axis> = BTreeSet::new();
    for stage in stages {
        // A stage whose cells are not known may use any axis of the stage that `each` names.
        let Some(grid) = &stage.grid else {
            let each = stage.spec.each.as_ref();
            let parent = stages.iter().find(|other| each.is_some_and(|each| each.text == other.spec.name.text));
            let axes = parent.and_then(|parent| parent.grid.as_ref()).into_iter().flat_map(|grid| &grid.axes);
            in_use.extend(axes.map(Rc::as_ptr));
            continue;
        };
        for axis in &grid.axes {
            let is_joined = stage.sources.references().any(|reference| {
                let there = stages[reference.stage].grid.as_ref();
                there.and_then(|there| Some((there, there.axis(&axis.name)?))).is_some_and(|(there, position)| {
                    !Rc::ptr_eq(&there.axes[position], axis) && !reference.fixes(position)
                })
            });
            if is_joined || stage.sources.used.contains(&axis.name) || stage.used.contains(&axis.name) {
                in_use.insert(Rc::as_ptr(axis));
            }
        }
    }
    for (number, stage) in stages.iter().enumerate() {
        for axis in stage.grid.iter().flat_map(|grid| &grid.axes).filter(|axis| axis.owner == number) {
            if in_use.contains(&Rc::as_ptr(axis)) {
                continue;
            }
            let (name, stage) = (&axis.name, stage.spec);
            let hint = match stage.is_command() {
                true => format!(
                    "`run` is given to the shell as it stands: make it a variable with `with: {{ {name}: ${name} }}`"
                ),
                false => format!("use it as `${name}` in `with`, or remove it"),
            };
            problems.push(
                Diagnostic::at(axis.place, format!("nothing uses the axis `{name}` of `{}`", stage.name.text))
                    .label("all cells along it would be the same")
                    .hint(hint),
            );
        }
    }
}
