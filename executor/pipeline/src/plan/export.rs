//! Resolves `export:`: the outputs that are copied, and their paths.

use std::collections::HashMap;
use std::path::{Component, PathBuf};

use super::ExportPlan;
use super::build::Planner;
use super::references::address;
use super::stage_kind::find_output;
use super::substitute::Scope;
use cwm_contract::{Format, Label};
use cwm_core::{Diagnostic, Node, Place, SpannedStr, escape_controls};

impl Planner<'_> {
    /// Resolves the exports of the file. Those that are wrong are reported and left out.
    pub fn exports(&self, written: &[(SpannedStr, Node)]) -> Vec<ExportPlan> {
        let mut exports: Vec<ExportPlan> = Vec::new();
        let mut places: Vec<(PathBuf, Place)> = Vec::new();
        for (what, path) in written {
            // Both are resolved, so that all problems are reported.
            let source = self.exported(what);
            let Some((path, place)) = self.export_path(path) else { continue };
            if let Some((_, other)) =
                places.iter().find(|(other, _)| other.starts_with(&path) || path.starts_with(other))
            {
                self.problems
                    .push(Diagnostic::at(place, "two exports have the same destination").related(*other, "the other"));
                continue;
            }
            places.push((path.clone(), place));
            let Some((cells, output)) = source else { continue };
            let (cells, labels): (Vec<usize>, Vec<&Label>) = cells.into_iter().unzip();
            match export_folders(&what.text, &labels) {
                Ok(folders) => exports.extend(cells.into_iter().zip(folders).map(|(cell, folder)| {
                    let path = folder.map_or_else(|| path.clone(), |folder| path.join(folder));
                    ExportPlan { cell, output: output.clone(), path, place }
                })),
                Err(problem) => self.problems.push(Diagnostic::at(what.place, problem).hint(COLLISION_HINT)),
            }
        }
        exports
    }

    /// Returns the path of an export, and the place in the file.
    fn export_path(&self, path: &Node) -> Option<(PathBuf, Place)> {
        let node = Scope::of_variables(self.variables, self.problems).node(path)?;
        let shown = node.value().to_string();
        let path = self.folders.absolute(&shown, Some(node.value_place()));
        self.problems.push(if path.components().any(|part| part == Component::ParentDir) {
            let message = format!("`{}` has a part `..`, whose meaning may depend on links", escape_controls(&shown));
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

    /// Returns the cells and the output that a reference means.
    fn exported(&self, what: &SpannedStr) -> Option<(Vec<(usize, &Label)>, String)> {
        let reference = self.reference(what)?;
        let stage = &self.stages[reference.stage];
        let (name, outputs) = (&stage.spec.name.text, stage.outputs.as_ref()?);
        let found = find_output(name, outputs, reference.output_name.as_deref(), &Format::ANY);
        let found = found.map_err(|problem| Diagnostic { place: Some(what.place), ..problem });
        let output_name = self.problems.ok(found)?.name.clone();
        let first = stage.first_cell?;
        let labelled = |cell: usize| (first + cell, &stage.matrix.labels[cell]);
        Some((reference.cells(&stage.matrix).into_iter().map(labelled).collect(), output_name))
    }
}

/// The hint for an error of [`export_folders`].
pub const COLLISION_HINT: &str = "give the values other labels: `{ label: value }`; or export each cell by itself";

/// Returns the folder of each cell that a reference means, such as `size=d32-l1,seed=0`. It is `None` if the reference has the
/// value of every axis: the number of cells does not count, so that a matrix may grow and what is exported keeps its place.
///
/// # Errors
/// Two cells would have one folder, since characters that are not safe in the name of a file become `-`.
pub fn export_folders(reference: &str, cells: &[&Label]) -> Result<Vec<Option<String>>, String> {
    let fixed = address(reference).map_or(0, |address| address.label.coordinates.len());
    if let [cell] = cells
        && cell.coordinates.len() == fixed
    {
        return Ok(vec![None]);
    }
    let is_safe = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
    let safe = |text: &str| text.chars().map(|c| if is_safe(c) { c } else { '-' }).collect::<String>();
    let mut owners: HashMap<String, &Label> = HashMap::new();
    let mut folders = Vec::new();
    for &label in cells {
        let axes = label.coordinates.iter().map(|(axis, value)| format!("{axis}={}", safe(value)));
        let folder = axes.collect::<Vec<_>>().join(",");
        if let Some(other) = owners.insert(folder.clone(), label) {
            return Err(format!("`{other}` and `{label}` would be exported to one folder, `{folder}`"));
        }
        folders.push(Some(folder));
    }
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(reference: &str, labels: &[&str]) -> Result<Vec<Option<String>>, String> {
        let labels: Vec<Label> = labels.iter().map(|label| label.parse().unwrap()).collect();
        export_folders(reference, &labels.iter().collect::<Vec<_>>())
    }

    #[test]
    fn each_cell_of_an_export_has_a_folder_with_a_safe_name() {
        assert_eq!(folders("report", &["report"]), Ok(vec![None]));
        assert_eq!(folders("model[size=d32/l1].best", &["model[size=d32/l1]"]), Ok(vec![None]));
        assert_eq!(folders("model", &["model[size=d32/l1]"]), Ok(vec![Some("size=d32-l1".to_owned())]));
        let two = folders("model", &["model[size=d32/l1,seed=0]", "model[size=../é x,seed=1.5]"]).unwrap();
        assert_eq!(two, [Some("size=d32-l1,seed=0".to_owned()), Some("size=..-é-x,seed=1.5".to_owned())]);
        let collision = "`m[a=x/y]` and `m[a=x y]` would be exported to one folder, `a=x-y`";
        assert_eq!(folders("m", &["m[a=x/y]", "m[a=x y]"]), Err(collision.to_owned()));
    }
}
