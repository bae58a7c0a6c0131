//! Variables and axes that nothing uses: most often a name that was mistyped elsewhere, or left over.

use std::rc::Rc;

use super::build::Planner;
use super::cells::Axis;
use super::input_sources::references;
use super::variables::Variables;
use crate::spec::Spec;
use cwm_core::{Diagnostic, SourceTexts, SpannedStr};

/// Returns a warning about each variable of a planned pipeline that nothing used.
pub fn unused_variables(spec: &Spec, variables: &Variables, sources: &SourceTexts) -> Vec<String> {
    let is_unused = |name: &&SpannedStr| variables.get(&name.text).is_some_and(|variable| !variable.is_used.get());
    let warning = |SpannedStr { text: name, place }: &SpannedStr| {
        let file = sources.get(*place).map_or("", |source| source.name.as_str());
        format!(
            "{file}:{}:{}: nothing uses the variable `{name}`; write `${name}` where its value belongs (for the text of a \
             command `with: {{ {name}: ${name} }}`), or remove it",
            place.line, place.column
        )
    };
    spec.vars.iter().map(|(name, _)| name).filter(is_unused).map(warning).collect()
}

impl Planner<'_> {
    /// Reports each axis that nothing uses, since all cells along it would do the same: neither its stage uses it nor one with a
    /// cell for each of its cells, by `$axis` in `with`, `from` or `needs`, or by reading a stage that has an axis of its own of
    /// that name.
    pub fn report_unused_axes(&self) {
        for stage in &self.stages {
            for reference in references(&stage.sources) {
                for other in reference.free_axes(&self.stages[reference.stage].matrix) {
                    let is_joined = |axis: &&Rc<Axis>| axis.name == other.name && !Rc::ptr_eq(axis, other);
                    stage.matrix.axes.iter().filter(is_joined).for_each(|axis| axis.is_used.set(true));
                }
            }
        }
        for (number, stage) in self.stages.iter().enumerate() {
            for axis in stage.matrix.axes.iter().filter(|axis| axis.owner == number && !axis.is_used.get()) {
                let (name, stage) = (&axis.name, stage.spec);
                self.problems.push(
                    Diagnostic::at(axis.place, format!("nothing uses the axis `{name}` of `{}`", stage.name.text))
                        .label("all cells along it would be the same")
                        .hint(format!(
                            "use it as `${name}` in `with` (`run` is given to the shell unchanged), or remove it"
                        )),
                );
            }
        }
    }
}
