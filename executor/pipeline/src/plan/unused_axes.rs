//! Finds axes that no stage uses: their cells would all do the same.

use std::rc::Rc;

use super::build::Planner;
use super::input_sources::references;
use cwm_core::Diagnostic;

impl Planner<'_> {
    /// Reports each axis that is used neither by its stage nor by one with a cell for each of its cells: by `$axis` in `with`,
    /// `from` or `needs`, or by reading a stage that has an axis of its own of that name.
    pub fn report_unused_axes(&self) {
        for stage in &self.stages {
            for axis in &stage.matrix.axes {
                let is_joined = || {
                    references(&stage.sources).any(|reference| {
                        let mut there = reference.free_axes(&self.stages[reference.stage].matrix);
                        there.any(|(_, other)| other.name == axis.name && !Rc::ptr_eq(other, axis))
                    })
                };
                // A stage with unknown cells or sources may use any of its axes.
                let is_partial =
                    stage.matrix.cells.is_empty() || stage.sources.iter().flatten().flatten().any(Option::is_none);
                if is_partial || is_joined() {
                    axis.is_used.set(true);
                }
            }
        }
        for (number, stage) in self.stages.iter().enumerate() {
            for axis in stage.matrix.axes.iter().filter(|axis| axis.owner == number && !axis.is_used.get()) {
                let (name, stage) = (&axis.name, stage.spec);
                let hint = match stage.is_command() {
                    true => format!(
                        "`run` is given to the shell as it stands: make it a variable with `with: {{ {name}: ${name} }}`"
                    ),
                    false => format!("use it as `${name}` in `with`, or remove it"),
                };
                self.problems.push(
                    Diagnostic::at(axis.place, format!("nothing uses the axis `{name}` of `{}`", stage.name.text))
                        .label("all cells along it would be the same")
                        .hint(hint),
                );
            }
        }
    }
}
