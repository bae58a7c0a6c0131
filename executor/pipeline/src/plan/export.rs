//! Resolves `export:`: the outputs that are copied, and their paths.

use std::path::{Component, PathBuf};

use super::Export;
use super::build::Planner;
use super::ports::Slot;
use super::substitute::Scope;
use cwm_core::names::list;
use cwm_core::{Diagnostic, Node, Place, SpannedStr, visible};

impl Planner<'_> {
    /// Resolves all exports. Those that are wrong are reported and left out.
    pub fn exports(&self) -> Vec<Export> {
        let mut exports: Vec<Export> = Vec::new();
        let mut places: Vec<(PathBuf, Place)> = Vec::new();
        for (what, path) in &self.spec.exports {
            // Both are resolved, so that all problems are reported.
            let source = self.exported(what);
            let Some((path, place)) = self.export_path(path) else { continue };
            if let Some((_, other)) =
                places.iter().find(|(other, _)| other.starts_with(&path) || path.starts_with(other))
            {
                self.problems.push(Diagnostic::at(place, "two exports go to one place").related(*other, "the other"));
                continue;
            }
            places.push((path.clone(), place));
            exports.extend(source.map(|(cell, port)| Export { cell, port, path, place }));
        }
        exports
    }

    /// Returns the path of an export, and the place in the file.
    fn export_path(&self, path: &Node) -> Option<(PathBuf, Place)> {
        let node = Scope::of_variables(self.variables, self.problems).node(path)?;
        let shown = node.value().to_string();
        let path = self.folders.absolute(&shown, node.origin);
        self.problems.push(if path.components().any(|part| part == Component::ParentDir) {
            let message = format!("`{}` leads upwards, and what `..` means may depend on links", visible(&shown));
            let hint = "export into a folder below the pipeline (`report/`), or name the place from the root (`/…`)";
            node.problem(message).hint(hint)
        } else if self.folders.file.starts_with(&path) {
            node.problem("an export cannot replace the pipeline's folder or one above it")
                .hint("export into a folder of its own: `report/`")
        } else {
            return Some((path, node.place));
        });
        None
    }

    /// Returns the cell and the output that a reference means.
    fn exported(&self, what: &SpannedStr) -> Option<(usize, String)> {
        let reference = self.reference(what)?;
        let stage = &self.stages[reference.stage];
        let port = match (&reference.port, &stage.outputs.as_ref()?[..]) {
            (None, [only]) => only.name.clone(),
            (None, outputs) => {
                let names = list(outputs.iter().map(|output| format!("{}.{}", what.text, output.name)));
                self.problems.push(
                    Diagnostic::at(what.place, format!("`{}` has several outputs", stage.spec.name.text))
                        .maybe_hint(names.map(|list| format!("name one of them: {list}"))),
                );
                return None;
            }
            (Some(_), _) => self.output(&reference, &Slot::any(""))?.name.clone(),
        };
        match reference.cells(&stage.matrix)[..] {
            [cell] => Some((stage.first_cell? + cell, port)),
            ref cells => {
                let open = list(reference.free_axes(&stage.matrix).map(|(_, axis)| &axis.name)).unwrap_or_default();
                let message = format!("`{}` has {} cells, and one is exported", what.text, cells.len());
                self.problems.push(Diagnostic::at(what.place, message).hint(format!("fix its axes: {open}")));
                None
            }
        }
    }
}
