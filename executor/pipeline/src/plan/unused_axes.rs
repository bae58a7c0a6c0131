//! Axes that nothing uses: cells that would all do the same.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::bind::InputSource;
use super::cells::Matrix;
use super::input_sources::Sources;
use super::references::Reference;
use crate::spec::Spec;
use cwm_core::{Diagnostic, Diagnostics};

/// Reports each axis that neither its stage nor one that has a cell for each of its cells uses: by `$axis` in `with`,
/// `from` or `needs`, or by reading a stage that has an axis of its own by that name.
pub fn check(
    spec: &Spec,
    grids: &[Option<Matrix>],
    references: &[Reference],
    sources: &[Sources],
    used: &[BTreeSet<String>],
    problems: &mut Diagnostics,
) {
    // By the address of the shared axis.
    let mut in_use: BTreeSet<*const super::axes::Axis> = BTreeSet::new();
    for (number, grid) in grids.iter().enumerate() {
        // A stage whose cells are not known may use any axis: those it may have come from what `each` names.
        let Some(grid) = grid else {
            let each = spec.stages[number].each.as_ref();
            let parent = spec.stages.iter().position(|stage| each.is_some_and(|each| each.text == stage.name.text));
            if let Some(parent) = parent.and_then(|parent| grids[parent].as_ref()) {
                in_use.extend(parent.axes.iter().map(Rc::as_ptr));
            }
            continue;
        };
        let read: BTreeSet<&Reference> = sources[number]
            .variants
            .iter()
            .flatten()
            .flatten()
            .filter_map(|given| match given {
                InputSource::Reference(reference) => Some(&references[*reference]),
                InputSource::File(_) => None,
            })
            .collect();
        for axis in &grid.axes {
            let joined = read.iter().any(|reference| {
                grids[reference.stage].as_ref().is_some_and(|there| {
                    there.axis(&axis.name).is_some_and(|position| {
                        !Rc::ptr_eq(&there.axes[position], axis)
                            && reference.fixed.iter().all(|(fixed, _)| *fixed != position)
                    })
                })
            });
            if joined || used[number].contains(&axis.name) {
                in_use.insert(Rc::as_ptr(axis));
            }
        }
    }
    for (number, grid) in grids.iter().enumerate() {
        for axis in grid.iter().flat_map(|grid| &grid.axes).filter(|axis| axis.owner == number) {
            if in_use.contains(&Rc::as_ptr(axis)) {
                continue;
            }
            let stage = &spec.stages[number];
            let hint = if stage.is_command() {
                format!(
                    "`run` is given to the shell as it stands: make it a variable with `with: {{ {0}: ${0} }}`",
                    axis.name
                )
            } else {
                format!("use it as `${}` in `with`, or remove it", axis.name)
            };
            problems.push(
                Diagnostic::at(axis.place, format!("nothing uses the axis `{}` of `{}`", axis.name, stage.name.text))
                    .label("all cells along it would be the same")
                    .hint(hint),
            );
        }
    }
}
