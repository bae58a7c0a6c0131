//! Resolves `export:`: the outputs that are copied, and their paths.

use std::path::{Component, PathBuf};

use super::Export;
use super::build::Planner;
use super::ports::{Slot, output};
use super::substitute::Scope;
use cwm_core::names::list;
use cwm_core::{Diagnostic, Place, SpannedStr, visible};

/// Resolves all exports. Those that are wrong are reported and left out.
pub fn exports(planner: &mut Planner) -> Vec<Export> {
    let mut exports: Vec<Export> = Vec::new();
    let mut places: Vec<(PathBuf, Place)> = Vec::new();
    for (what, path) in &planner.spec.exports {
        // Both are resolved, so that all problems are reported.
        let source = source(what, planner);
        let Some((path, place)) = place(path, planner) else { continue };
        if let Some((_, other)) = places.iter().find(|(other, _)| other.starts_with(&path) || path.starts_with(other)) {
            planner.problems.push(Diagnostic::at(place, "two exports go to one place").related(*other, "the other"));
            continue;
        }
        places.push((path.clone(), place));
        if let Some((cell, port)) = source {
            exports.push(Export { cell, port, path, place });
        }
    }
    exports
}

/// Returns the path of an export, and the place in the file.
fn place(path: &SpannedStr, planner: &mut Planner) -> Option<(PathBuf, Place)> {
    let folders = planner.folders;
    let node = Scope::new(planner.variables).node(&text(path), planner.problems)?;
    let path = folders.absolute(&node.value().to_string(), node.origin);
    let problem = if path.components().any(|part| part == Component::ParentDir) {
        let shown = visible(&node.value().to_string());
        Diagnostic::at(node.place, format!("`{shown}` leads upwards, and what `..` means may depend on links"))
            .hint("export into a folder below the pipeline (`report/`), or name the place from the root (`/…`)")
    } else if folders.file.starts_with(&path) {
        Diagnostic::at(node.place, "an export cannot replace the pipeline's folder or one above it")
            .hint("export into a folder of its own: `report/`")
    } else {
        return Some((path, node.place));
    };
    planner.problems.push(problem.maybe_related(node.origin, "its value comes from here"));
    None
}

fn text(word: &SpannedStr) -> cwm_core::Node {
    cwm_core::Node {
        place: word.place,
        origin: None,
        content: cwm_core::Content::Scalar(cwm_contract::Value::Text(word.text.clone())),
    }
}

fn source(what: &SpannedStr, planner: &mut Planner) -> Option<(usize, String)> {
    let Planner { stages, references, problems, .. } = planner;
    let reference = references.resolve(what, stages, problems)?;
    let stage = &stages[reference.stage];
    let name = &stage.spec.name.text;
    let (grid, outputs) = (stage.grid.as_ref()?, stage.outputs.as_ref()?);
    let port = match (&reference.port, &outputs[..]) {
        (None, [only]) => only.name.clone(),
        (None, _) => {
            let names: Vec<_> = outputs.iter().map(|output| format!("{}.{}", what.text, output.name)).collect();
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            problems.push(
                Diagnostic::at(what.place, format!("`{name}` has several outputs"))
                    .maybe_hint(list(&names).map(|list| format!("name one of them: {list}"))),
            );
            return None;
        }
        (Some(_), _) => match output(&reference, name, outputs, &Slot::any("")) {
            Ok(found) => found.name.clone(),
            Err(problem) => {
                problems.push(*problem);
                return None;
            }
        },
    };
    let cells = reference.cells(grid);
    match cells[..] {
        [cell] => Some((*stage.cells.get(cell)?, port)),
        _ => {
            let open = grid.axes.iter().enumerate().filter(|(position, _)| !reference.fixes(*position));
            let open: Vec<_> = open.map(|(_, axis)| axis.name.as_str()).collect();
            problems.push(
                Diagnostic::at(what.place, format!("`{}` has {} cells, and one is exported", what.text, cells.len()))
                    .hint(format!("fix its axes: {}", list(&open).unwrap_or_default())),
            );
            None
        }
    }
}
