//! Resolves the sources in `from:` of a stage, cell by cell.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::rc::Rc;

use super::build::PlannedStage;
use super::parameters::Folders;
use super::references::{Reference, References};
use super::substitute::Scope;
use super::variables::Variables;
use crate::spec::{FromSpec, SourceSpec};
use cwm_core::{Diagnostics, SpannedStr};

/// A source of an input.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum InputSource {
    /// A reference.
    Reference(Rc<Reference>),
    /// A file from outside, absolute.
    File(PathBuf),
}

/// The sources of a stage in the order of the file. Most cells have the same; they differ where a reference holds an `$axis`.
#[derive(Debug, Default)]
pub struct Sources {
    /// The different lists of sources. None: the source is wrong, which was reported.
    pub variants: Vec<Vec<Option<InputSource>>>,
    /// The variant of each cell; empty if all have the first.
    cells: Vec<usize>,
    /// The names of the axes that they use.
    pub used: BTreeSet<String>,
}

impl Sources {
    /// Returns the number of the variant that a cell has.
    pub fn of_cell(&self, cell: usize) -> usize {
        self.cells.get(cell).copied().unwrap_or(0)
    }

    /// Returns the references among them.
    pub fn references(&self) -> impl Iterator<Item = &Rc<Reference>> {
        self.variants.iter().flatten().flatten().filter_map(|source| match source {
            InputSource::Reference(reference) => Some(reference),
            InputSource::File(_) => None,
        })
    }
}

/// Resolves the sources of the stage with this number.
pub fn sources(
    number: usize,
    stages: &[PlannedStage],
    variables: &Variables,
    folders: &Folders,
    references: &mut References,
    problems: &mut Diagnostics,
) -> Sources {
    let stage = stages[number].spec;
    let written: Vec<&SourceSpec> = match &stage.from {
        FromSpec::Outputs(sources) => sources.iter().collect(),
        FromSpec::Inputs(inputs) => inputs.iter().flat_map(|(_, input)| &input.sources).collect(),
    };
    let Some(grid) = &stages[number].grid else {
        // Its references are checked although its cells are not known.
        for source in &written {
            if let SourceSpec::Reference(node) = source
                && let Some(word) = node.spanned_text().filter(|word| !word.text.contains('$') && !word.text.is_empty())
            {
                references.resolve(&word, stages, problems);
            }
        }
        return Sources { variants: vec![vec![None; written.len()]], ..Sources::default() };
    };
    let mut variants: Vec<Vec<Option<InputSource>>> = Vec::new();
    let mut known: HashMap<Vec<Option<InputSource>>, usize> = HashMap::new();
    let (mut cells, mut used) = (Vec::new(), BTreeSet::new());
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
                let word = SpannedStr { text: text.to_owned(), place };
                references.resolve(&word, stages, problems).map(InputSource::Reference)
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
    Sources { variants, cells, used }
}
