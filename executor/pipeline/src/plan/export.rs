//! `export:`: what is copied out, and where to.

use std::path::{Component, PathBuf};

use super::cells::Matrix;
use super::parameters::Folders;
use super::ports::{Takes, output};
use super::references::References;
use super::substitute::Scope;
use super::variables::Variables;
use super::{Export, OutputPlan};
use crate::spec::Spec;
use cwm_core::names::list;
use cwm_core::{Diagnostic, Diagnostics, Place, SpannedStr, visible};

/// The context in which exports are resolved.
pub struct ExportContext<'a> {
    /// The file as written.
    pub spec: &'a Spec,
    /// Variables, for paths.
    pub variables: &'a Variables,
    /// Axes and cells of each stage.
    pub grids: &'a [Option<Matrix>],
    /// Outputs of each stage; `None` where that is not known because of a fault.
    pub outputs: &'a [Option<Vec<OutputPlan>>],
    /// Where the cells of each stage stand in the plan.
    pub indices: &'a [Vec<usize>],
    /// The folders that paths are relative to.
    pub folders: &'a Folders,
}

/// All exports; what is wrong is reported and left out.
pub fn exports(known: &ExportContext, references: &mut References, problems: &mut Diagnostics) -> Vec<Export> {
    let mut exports: Vec<Export> = Vec::new();
    let mut places: Vec<(PathBuf, Place)> = Vec::new();
    for (what, path) in &known.spec.exports {
        // Both are looked at, so that all faults are told.
        let source = source(what, known, references, problems);
        let Some((path, place)) = place(path, known, problems) else { continue };
        if let Some((_, other)) = places.iter().find(|(other, _)| other.starts_with(&path) || path.starts_with(other)) {
            problems.push(Diagnostic::at(place, "two exports go to one place").related(*other, "the other"));
            continue;
        }
        places.push((path.clone(), place));
        if let Some((cell, port)) = source {
            exports.push(Export { cell, port, path, place });
        }
    }
    exports
}

/// Where an export goes, and where that is written.
fn place(path: &SpannedStr, known: &ExportContext, problems: &mut Diagnostics) -> Option<(PathBuf, Place)> {
    let node = Scope::new(known.variables).node(&text(path), problems)?;
    let path = known.folders.absolute(&node.value().to_string(), node.origin);
    let problem = if path.components().any(|part| part == Component::ParentDir) {
        let shown = visible(&node.value().to_string());
        Diagnostic::at(node.place, format!("`{shown}` leads upwards, and what `..` means may depend on links"))
            .hint("export into a folder below the pipeline (`report/`), or name the place from the root (`/…`)")
    } else if known.folders.file.starts_with(&path) {
        Diagnostic::at(node.place, "an export cannot replace the pipeline's folder or one above it")
            .hint("export into a folder of its own: `report/`")
    } else {
        return Some((path, node.place));
    };
    problems.push(problem.maybe_related(node.origin, "its value comes from here"));
    None
}

fn text(word: &SpannedStr) -> cwm_core::Node {
    cwm_core::Node {
        place: word.place,
        origin: None,
        content: cwm_core::Content::Scalar(cwm_contract::Value::Text(word.text.clone())),
    }
}

fn source(
    what: &SpannedStr,
    known: &ExportContext,
    references: &mut References,
    problems: &mut Diagnostics,
) -> Option<(usize, String)> {
    let number = references.resolve(what, problems)?;
    let reference = references.list[number].clone();
    let stage = &known.spec.stages[reference.stage];
    let grid = known.grids[reference.stage].as_ref()?;
    let outputs = known.outputs[reference.stage].as_ref()?;
    let port = match (&reference.port, &outputs[..]) {
        (None, [only]) => only.name.clone(),
        (None, _) => {
            let names: Vec<_> = outputs.iter().map(|output| format!("{}.{}", what.text, output.name)).collect();
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            problems.push(
                Diagnostic::at(what.place, format!("`{}` has several outputs", stage.name.text))
                    .maybe_hint(list(&names).map(|list| format!("name one of them: {list}"))),
            );
            return None;
        }
        (Some(_), _) => {
            let any = Takes { name: String::new(), format: cwm_contract::Format::ANY, count: None };
            match output(&reference, stage, outputs, &any) {
                Ok(found) => found.name.clone(),
                Err(problem) => {
                    problems.push(*problem);
                    return None;
                }
            }
        }
    };
    let cells: Vec<usize> = (0..grid.cells.len())
        .filter(|&cell| reference.fixed.iter().all(|&(axis, id)| grid.id(cell, axis) == id))
        .collect();
    match cells[..] {
        [cell] => Some((*known.indices[reference.stage].get(cell)?, port)),
        _ => {
            let open: Vec<_> = grid
                .axes
                .iter()
                .enumerate()
                .filter(|(position, _)| reference.fixed.iter().all(|(fixed, _)| fixed != position))
                .map(|(_, axis)| axis.name.as_str())
                .collect();
            problems.push(
                Diagnostic::at(what.place, format!("`{}` has {} cells, and one is exported", what.text, cells.len()))
                    .hint(format!("fix its axes: {}", list(&open).unwrap_or_default())),
            );
            None
        }
    }
}
