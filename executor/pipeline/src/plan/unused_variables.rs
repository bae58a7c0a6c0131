//! Variables that nothing uses: most often a name that was mistyped elsewhere, or left over.

use std::collections::HashSet;

use super::Plan;
use super::command::RUN;
use super::substitute::names;
use crate::spec::COMMAND;
use cwm_core::{Content, Node, Place, SpannedStr};

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

/// Returns the variables that nothing in the file at `root` uses.
pub fn find_unused(root: &Node, variables: &[(SpannedStr, Node)]) -> Vec<UnusedVariable> {
    if variables.is_empty() {
        return Vec::new();
    }
    let mut used = Used::default();
    if let Content::Map(entries) = &root.content {
        entries.iter().filter(|(key, _)| key.text != "vars").for_each(|(_, node)| used.node(node));
    }
    let idle = variables.iter().filter(|(name, _)| !used.names.contains(name.text.as_str()));
    idle.map(|(name, _)| UnusedVariable {
        name: name.text.clone(),
        place: name.place,
        in_command: used.by_shells.contains(name.text.as_str()),
    })
    .collect()
}

/// Names behind a `$`.
#[derive(Default)]
struct Used<'n> {
    names: HashSet<&'n str>,
    /// In the texts of commands, which are the shell's.
    by_shells: HashSet<&'n str>,
}

impl<'n> Used<'n> {
    fn node(&mut self, node: &'n Node) {
        match &node.content {
            Content::List(items) => items.iter().for_each(|item| self.node(item)),
            Content::Map(entries) => {
                let is_command = entries.iter().any(|(key, node)| key.text == "stage" && node.text() == Some(COMMAND));
                for (key, node) in entries {
                    match &node.content {
                        Content::Map(with) if is_command && key.text == "with" => self.of_command(with),
                        _ => self.node(node),
                    }
                }
            }
            Content::Scalar(_) => self.names.extend(node.text().map(names).unwrap_or_default()),
        }
    }

    fn of_command(&mut self, with: &'n [(SpannedStr, Node)]) {
        for (key, node) in with {
            match node.text() {
                Some(text) if key.text == RUN => self.by_shells.extend(names(text)),
                _ => self.node(node),
            }
        }
    }
}
