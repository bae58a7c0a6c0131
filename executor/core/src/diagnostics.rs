//! The diagnostics of a pipeline file: all of them at once, each with its place.
//!
//! A [`Diagnostics`] owns the texts that its places point into, so that it can be shown or turned into JSON anywhere.

mod json;
mod render;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// A stretch of text in one of the [`SourceTexts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The number of the text: 0 is the pipeline file, then the value of each `--set` in its order.
    pub source: u32,
    /// Line of the first byte, from 1.
    pub line: u32,
    /// Column of the first byte in characters, from 1.
    pub column: u32,
    /// First byte.
    pub start: u32,
    /// Byte after the last one.
    pub end: u32,
}

impl Place {
    /// Returns the place of these bytes of `text`, which has the number `source`.
    pub fn in_text(source: u32, text: &str, bytes: Range<usize>) -> Place {
        let start = text.floor_char_boundary(bytes.start);
        let end = text.floor_char_boundary(bytes.end).max(start);
        let before = &text[..start];
        let line = before.matches('\n').count() as u32 + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) as u32 + 1;
        Place { source, line, column, start: start as u32, end: end as u32 }
    }

    /// Returns true if this is in a `--set` rather than in the file.
    pub fn is_set(&self) -> bool {
        self.source > 0
    }
}

/// One text that places point into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// Its name for people: the path as they gave it, or `--set NAME`.
    pub name: String,
    /// Its text; if empty, errors show places in it and no excerpts.
    pub text: String,
}

/// The texts that a plan was made from.
#[derive(Clone, Debug, Default)]
pub struct SourceTexts(Arc<Vec<SourceText>>);

impl SourceTexts {
    /// Returns the collection of these texts, the pipeline file first.
    pub fn new(sources: Vec<SourceText>) -> Self {
        SourceTexts(Arc::new(sources))
    }

    /// Returns the text that `place` points into.
    pub fn get(&self, place: Place) -> Option<&SourceText> {
        self.0.get(place.source as usize)
    }
}

/// One error or warning, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// The problem, in a sentence without a full stop.
    pub message: String,
    /// Its place.
    pub place: Option<Place>,
    /// A few words beside the underlined text; may be empty.
    pub label: String,
    /// Other places that matter, each with a few words.
    pub related: Vec<(Place, String)>,
    /// The remedy.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// Returns a diagnostic at a place.
    pub fn at(place: Place, message: impl Into<String>) -> Self {
        Diagnostic { place: Some(place), ..Self::without_place(message) }
    }

    /// Returns a diagnostic without a place in a text.
    pub fn without_place(message: impl Into<String>) -> Self {
        Diagnostic { message: message.into(), place: None, label: String::new(), related: Vec::new(), hint: None }
    }

    /// Adds words beside the underlined text.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds another place.
    pub fn related(mut self, place: Place, label: impl Into<String>) -> Self {
        self.related.push((place, label.into()));
        self
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a hint, if there is one.
    pub fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }
}

/// Diagnostics, in the order in which they were found, none twice. Displayed without colour.
#[derive(Clone, Debug, Default, thiserror::Error)]
#[error("{}", self.render(false, render::DEFAULT_WIDTH))]
pub struct Diagnostics {
    /// The texts that places point into.
    pub sources: SourceTexts,
    list: Vec<Diagnostic>,
    seen: HashSet<Diagnostic>,
}

impl Diagnostics {
    /// Returns an empty collection about these texts.
    pub fn new(sources: SourceTexts) -> Self {
        Diagnostics { sources, ..Self::default() }
    }

    /// Returns a collection of one problem about these texts.
    pub fn of(problem: Diagnostic, sources: SourceTexts) -> Self {
        let mut problems = Self::new(sources);
        problems.push(problem);
        problems
    }

    /// Adds one, unless it is there already: an error that every cell of a matrix shares is reported once.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.seen.insert(diagnostic.clone()) {
            self.list.push(diagnostic);
        }
    }

    /// Returns true if there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the number of diagnostics.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns all diagnostics.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// Sorts the diagnostics in the order of the text; those without a place come first.
    pub fn sort(&mut self) {
        self.list.sort_by_key(|diagnostic| diagnostic.place);
    }

    /// Returns `value` if there is no diagnostic.
    ///
    /// # Errors
    /// These diagnostics, if there are any, in the order of the text.
    pub fn into_result<T>(mut self, value: T) -> Result<T, Diagnostics> {
        if self.is_empty() {
            return Ok(value);
        }
        self.sort();
        Err(self)
    }
}
