//! What the sources that a stage's `from:` names stand for, cell by cell.

use std::collections::{BTreeSet, HashMap};

use super::bind::InputSource;
use super::cells::Matrix;
use super::parameters::Folders;
use super::references::References;
use super::substitute::Scope;
use super::variables::Variables;
use crate::spec::{FromSpec, SourceSpec, StageSpec};
use cwm_core::{Diagnostics, SpannedStr};

/// The sources of a stage in the order of writing. Cells mostly share them; they differ where a reference has a
/// `$axis` in it.
#[derive(Debug)]
pub struct Sources {
    /// The different lists of sources (`None`: not right, and reported).
    pub variants: Vec<Vec<Option<InputSource>>>,
    /// Which one each cell has; empty where all have the first.
    cells: Vec<usize>,
}

impl Sources {
    /// The number of the variant that a cell has.
    pub fn of_cell(&self, cell: usize) -> usize {
        self.cells.get(cell).copied().unwrap_or(0)
    }
}

/// Resolves the sources of `stage`; the axes that they use go to `used`.
pub fn given(
    stage: &StageSpec,
    grid: Option<&Matrix>,
    variables: &Variables,
    folders: &Folders,
    references: &mut References,
    used: &mut BTreeSet<String>,
    problems: &mut Diagnostics,
) -> Sources {
    let written: Vec<&SourceSpec> = match &stage.from {
        FromSpec::Outputs(sources) => sources.iter().collect(),
        FromSpec::Inputs(inputs) => inputs.iter().flat_map(|(_, input)| &input.sources).collect(),
    };
    let Some(grid) = grid else {
        // Its cells are not known; what it names may be wrong all the same.
        for source in &written {
            if let SourceSpec::Reference(node) = source
                && let Some(word) = node.word().filter(|word| !word.text.contains('$') && !word.text.is_empty())
            {
                references.resolve(&word, problems);
            }
        }
        return Sources { variants: vec![vec![None; written.len()]], cells: Vec::new() };
    };
    let mut variants: Vec<Vec<Option<InputSource>>> = Vec::new();
    let mut known: HashMap<Vec<Option<InputSource>>, usize> = HashMap::new();
    let mut cells = Vec::new();
    for cell in 0..grid.cells.len() {
        let mut scope = Scope::with_axes(variables, grid.bindings(cell));
        let sources: Vec<Option<InputSource>> = written
            .iter()
            .map(|&source| {
                let (node, is_file) = match source {
                    SourceSpec::Reference(node) => (scope.node(node, problems)?, false),
                    SourceSpec::File(node) => (scope.node(node, problems)?, true),
                    SourceSpec::Unreadable => return None,
                };
                let Some(text) = node.text().filter(|text| !text.is_empty()) else {
                    problems.push(
                        cwm_core::Diagnostic::at(node.place, format!("a reference must be text, not {}", node.kind()))
                            .maybe_related(node.origin, "its value comes from here"),
                    );
                    return None;
                };
                if is_file {
                    return Some(InputSource::File(folders.absolute(text, node.origin)));
                }
                // A reference that is the value of an axis or a variable is shown where that stands.
                let place = node.origin.unwrap_or(node.place);
                references.resolve(&SpannedStr { text: text.to_owned(), place }, problems).map(InputSource::Reference)
            })
            .collect();
        if scope.used.is_empty() && cell == 0 {
            variants.push(sources);
            break;
        }
        let next = variants.len();
        let variant = *known.entry(sources).or_insert_with_key(|sources| {
            variants.push(sources.clone());
            next
        });
        used.extend(scope.used.into_iter().map(str::to_owned));
        cells.push(variant);
    }
    if variants.is_empty() {
        variants.push(vec![None; written.len()]);
    }
    Sources { variants, cells }
}
