//! Resolves the sources in `from:` of a stage.

use std::path::PathBuf;
use std::rc::Rc;

use super::build::{PlannedStage, Planner};
use super::references::Reference;
use super::substitute::Scope;
use crate::spec::SourceSpec;
use cwm_contract::SourceLocation;
use cwm_core::{Place, SpannedStr, escape_controls};

/// A source of an input.
#[derive(Clone)]
pub enum InputSource {
    /// A reference.
    Reference(Rc<Reference>),
    /// An external file, absolute, and the place of its path.
    File(PathBuf, Place),
}

/// The sources of each input in the order of the file. A source is none if it is wrong, which was reported.
pub type InputSources = Vec<Vec<Option<InputSource>>>;

impl Planner<'_> {
    /// Resolves the sources of a stage: those of each cell, or those of all cells where no source has an `$axis`.
    pub fn sources(&self, number: usize) -> Vec<InputSources> {
        let PlannedStage { spec: stage, matrix, .. } = &self.stages[number];
        let mut written = stage.from.iter().flat_map(|input| &input.sources).flatten();
        let cells = match written.any(|source| source.text.text().is_some_and(|text| text.contains('$'))) {
            true => matrix.labels.len(),
            false => matrix.labels.len().min(1),
        };
        let of_cell = |cell| {
            let scope = self.scope(matrix, cell);
            let source = |source: &Option<SourceSpec>| self.source(source.as_ref()?, &scope);
            stage.from.iter().map(|input| input.sources.iter().map(source).collect()).collect()
        };
        match cells {
            0 => vec![of_cell(None)],
            cells => (0..cells).map(|cell| of_cell(Some(cell))).collect(),
        }
    }

    fn source(&self, source: &SourceSpec, scope: &Scope) -> Option<InputSource> {
        let node = scope.node(&source.text)?;
        let text = self.problems.text(&node, "a reference")?.text;
        if SourceLocation::is_url(&text) {
            let message = format!("`from` takes a stage or a file, and {} is a URL", escape_controls(&text));
            self.problems.push(node.problem(message).hint(
                "a `download` stage takes it: `games: { stage: download, with: { source: URL } }`, and here `games`",
            ));
            return None;
        }
        if source.is_file || is_path(&text) {
            return Some(InputSource::File(self.folders.absolute(&text, Some(node.value_place())), node.place));
        }
        // A reference that is the value of an axis or a variable is shown where that stands.
        let place = node.value_place();
        self.reference(&SpannedStr { text, place }).map(InputSource::Reference)
    }
}

/// Returns true if the text of a source is a path: it has a `/` before any axis.
fn is_path(text: &str) -> bool {
    text.split('[').next().is_some_and(|name| name.contains('/'))
}

/// Returns the references among these sources.
pub fn references(sources: &[InputSources]) -> impl Iterator<Item = &Rc<Reference>> {
    sources.iter().flatten().flatten().flatten().filter_map(|source| match source {
        InputSource::Reference(reference) => Some(reference),
        InputSource::File(..) => None,
    })
}
