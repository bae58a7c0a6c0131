//! Variables and axes that nothing uses: most often a name that was mistyped elsewhere, or left over.

use std::collections::HashSet;
use std::rc::Rc;

use super::build::Planner;
use super::command::RUN;
use super::input_sources::references;
use super::substitute::names;
use super::variables::Variables;
use crate::spec::Spec;
use cwm_core::{Diagnostic, Sources, SpannedStr};

/// Returns a warning about each variable of a planned pipeline that nothing used.
pub fn unused_variables(spec: &Spec, variables: &Variables, sources: &Sources) -> Vec<String> {
    let commands = spec.stages.iter().filter(|stage| stage.is_command()).flat_map(|stage| &stage.with);
    let texts = commands.filter(|(key, _)| key.text == RUN).filter_map(|(_, node)| node.text());
    let in_commands: HashSet<&str> = texts.flat_map(names).collect();
    let is_unused = |name: &&SpannedStr| variables.get(&name.text).is_some_and(|variable| !variable.is_used.get());
    let warning = |SpannedStr { text: name, place }: &SpannedStr| {
        let file = sources.get(*place).map_or("", |source| source.name.as_str());
        // The text of a command sees no variables.
        let advice = if in_commands.contains(name.as_str()) {
            format!("`run` is given to the shell as it stands: write `with: {{ {name}: ${name} }}`")
        } else {
            format!("write `${name}` where its value belongs, or remove it")
        };
        format!("{file}:{}:{}: nothing uses the variable `{name}`; {advice}", place.line, place.column)
    };
    spec.vars.iter().map(|(name, _)| name).filter(is_unused).map(warning).collect()
}

impl Planner<'_> {
    /// Reports each axis that nothing uses, since all cells along it would do the same: neither its stage uses it nor one with a cell
    /// for each of its cells, by `$axis` in `with`, `from` or `needs`, or by reading a stage that has an axis of its own of that name.
    pub fn report_unused_axes(&self) {
        for stage in &self.stages {
            for axis in &stage.matrix.axes {
                let is_joined = || {
                    references(&stage.sources).any(|reference| {
                        let mut there = reference.free_axes(&self.stages[reference.stage].matrix);
                        there.any(|other| other.name == axis.name && !Rc::ptr_eq(other, axis))
                    })
                };
                // A stage with unknown cells or sources may use any of its axes.
                let is_partial =
                    stage.matrix.labels.is_empty() || stage.sources.iter().flatten().flatten().any(Option::is_none);
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
