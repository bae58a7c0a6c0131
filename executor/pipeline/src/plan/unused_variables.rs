//! Variables that nothing uses: most often a name that was mistyped elsewhere, or left over.

use std::collections::HashSet;

use super::Plan;
use super::command::RUN;
use super::substitute::names;
use super::variables::Variables;
use crate::spec::Spec;
use cwm_core::{Place, SpannedStr};

/// A variable that nothing uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedVariable {
    /// Its name.
    pub name: String,
    /// Its place.
    pub place: Place,
    /// True if the text of a command names it, which sees no variables.
    pub in_command: bool,
}

impl UnusedVariable {
    /// Returns the warning.
    pub fn message(&self, plan: &Plan) -> String {
        let file = plan.sources.get(self.place).map_or("", |source| source.name.as_str());
        let (name, Place { line, column, .. }) = (&self.name, self.place);
        let advice = if self.in_command {
            format!("`run` is given to the shell as it stands: write `with: {{ {name}: ${name} }}`")
        } else {
            format!("write `${name}` where its value belongs, or remove it")
        };
        format!("{file}:{line}:{column}: nothing uses the variable `{name}`; {advice}")
    }
}

/// Returns the variables of a planned pipeline that nothing used.
pub fn find_unused(spec: &Spec, variables: &Variables) -> Vec<UnusedVariable> {
    let commands = spec.stages.iter().filter(|stage| stage.is_command()).flat_map(|stage| &stage.with);
    let texts = commands.filter(|(key, _)| key.text == RUN).filter_map(|(_, node)| node.text());
    let in_commands: HashSet<&str> = texts.flat_map(names).collect();
    let is_unused = |name: &SpannedStr| variables.get(&name.text).is_some_and(|variable| !variable.is_used.get());
    let unused = spec.vars.iter().map(|(name, _)| name).filter(|name| is_unused(name));
    let in_command = |name: &SpannedStr| in_commands.contains(name.text.as_str());
    unused
        .map(|name| UnusedVariable { name: name.text.clone(), place: name.place, in_command: in_command(name) })
        .collect()
}
