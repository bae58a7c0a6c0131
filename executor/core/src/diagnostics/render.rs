//! Diagnostics as people read them: the line shown, the place underlined, advice below.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::{Diagnostic, Diagnostics, Place, SourceText};
use crate::text::{escape_controls, escape_controls_in_lines};

/// Columns when the terminal's width is not known.
pub const DEFAULT_WIDTH: usize = 120;

/// The most diagnostics that are shown; the rest is counted.
const MAX_SHOWN: usize = 50;

/// A line longer than this many bytes is not shown, only its place.
const LONGEST_LINE: usize = 1000;

impl Diagnostics {
    /// Returns the text of all diagnostics (the first 50, then the number of the others), ready to print to a terminal `width`
    /// columns wide.
    pub fn render(&self, colour: bool, width: usize) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() }.term_width(width);
        let mut out = String::new();
        for diagnostic in self.iter().take(MAX_SHOWN) {
            out.push_str(&renderer.render(&[self.group(diagnostic)]));
            out.push_str("\n\n");
        }
        if self.len() > MAX_SHOWN {
            out.push_str(&format!("… and {} more\n", self.len() - MAX_SHOWN));
        } else {
            out.truncate(out.trim_end_matches('\n').len());
            out.push('\n');
        }
        out
    }

    fn group<'a>(&'a self, diagnostic: &'a Diagnostic) -> Group<'a> {
        let mut group = Group::with_title(Level::ERROR.primary_title(escape_controls_in_lines(&diagnostic.message)));
        let primary = diagnostic.place.map(|place| vec![(place, diagnostic.label.as_str(), AnnotationKind::Primary)]);
        let mut excerpts = Vec::from_iter(primary);
        for (place, label) in &diagnostic.related {
            match excerpts.first_mut().filter(|places| places[0].0.source == place.source) {
                Some(places) => places.push((*place, label, AnnotationKind::Context)),
                None => excerpts.push(vec![(*place, label, AnnotationKind::Primary)]),
            }
        }
        for places in excerpts {
            let place = places[0].0;
            let Some(source) = self.sources.get(place) else { continue };
            group = match excerpt(source, &places) {
                Some(snippet) => group.element(snippet),
                None => {
                    let origin = Origin::path(escape_controls(&source.name)).line(place.line as usize);
                    group.element(origin.char_column(place.column as usize))
                }
            };
        }
        if let Some(hint) = &diagnostic.hint {
            group = group.element(Level::HELP.with_name("hint").message(escape_controls_in_lines(hint)));
        }
        group
    }
}

/// A place with its label.
type Annotated<'a> = (Place, &'a str, AnnotationKind);

/// The lines of these places, or nothing where there is no text or they are too long to be shown.
fn excerpt<'a>(source: &'a SourceText, places: &[Annotated<'a>]) -> Option<Snippet<'a, Annotation<'a>>> {
    let text = source.text.as_str();
    let mut snippet = Snippet::source(escape_terminal(text)).path(escape_controls(&source.name));
    for (place, label, kind) in places {
        let span = place.start as usize..place.end.max(place.start) as usize;
        let (before, after) = (text.get(..span.start)?, text.get(span.end..)?);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = span.end + after.find('\n').unwrap_or(after.len());
        if text.is_empty() || text[line_start..line_end].lines().any(|line| line.len() > LONGEST_LINE) {
            return None;
        }
        let annotation = kind.span(span);
        snippet =
            snippet.annotation(if label.is_empty() { annotation } else { annotation.label(escape_controls(label)) });
    }
    Some(snippet)
}

/// The text with what the renderer would show to a terminal as it is, byte for byte as long so that places stay: the return
/// of a Windows line end, which is not shown either, and controls beyond ASCII.
fn escape_terminal(text: &str) -> String {
    let is_control = |c: char| ('\u{80}'..='\u{9f}').contains(&c);
    let mut text = text.replace("\r\n", " \n").replace(is_control, "·");
    if text.ends_with('\r') {
        text.pop();
        text.push(' ');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::{Diagnostic, Diagnostics, Place, SourceText, SourceTexts};

    fn sources(text: &str) -> SourceTexts {
        SourceTexts::new(vec![SourceText { name: "p.yaml".into(), text: text.into() }])
    }

    #[test]
    fn two_places_an_advice_and_the_line_between_folded() {
        let text = "cwm: 1\nstages:\n  a: x\n  b: y\n  c: z\n  d: z\n  e: z\n  a: x\n";
        let mut all = Diagnostics::new(sources(text));
        let first = Place { source: 0, start: 17, end: 18, line: 3, column: 3 };
        let second = Place { source: 0, start: 52, end: 53, line: 8, column: 3 };
        all.push(Diagnostic::at(second, "two of them").related(first, "the first").hint("rename one"));
        insta::assert_snapshot!(all.to_string(), @"
        error: two of them
         --> p.yaml:8:3
          |
        3 |   a: x
          |   - the first
        ...
        8 |   a: x
          |   ^
          |
          = hint: rename one
        ");
        assert!(all.render(true, 100).contains('\u{1b}'));
    }

    #[test]
    fn windows_line_ends_are_not_shown() {
        let mut all = Diagnostics::new(sources("cwm: 1\r\nstagse:\r\n"));
        all.push(Diagnostic::at(Place { source: 0, start: 8, end: 14, line: 2, column: 1 }, "wrong"));
        assert!(all.to_string().contains("2 | stagse:") && !all.to_string().contains('\u{240d}'), "{all}");
    }

    #[test]
    fn a_terminal_obeys_nothing_that_stands_in_a_pipeline_or_its_name() {
        let evil = "\u{1b}[31m\u{202e}\u{9b}\r\u{7}";
        let text = format!("cwm: {evil}x\n");
        let name = format!("{evil}.yaml");
        let mut all = Diagnostics::new(SourceTexts::new(vec![SourceText { name, text: text.clone() }]));
        let place = Place { source: 0, start: 5, end: text.len() as u32 - 1, line: 1, column: 6 };
        all.push(Diagnostic::at(place, evil).label(evil).related(place, evil).hint(evil));
        all.push(Diagnostic::at(Place { source: 0, start: 900, end: 901, line: 9, column: 1 }, evil));
        let shown = all.to_string();
        assert!(!shown.contains(['\u{1b}', '\u{202e}', '\u{9b}', '\r', '\u{7}']), "{shown:?}");
    }

    #[test]
    fn a_line_of_a_megabyte_is_not_shown() {
        let mut all = Diagnostics::new(sources(&"x".repeat(1 << 20)));
        all.push(Diagnostic::at(Place { source: 0, start: 5, end: 6, line: 1, column: 6 }, "wrong"));
        insta::assert_snapshot!(all.to_string(), @"
        error: wrong
        --> p.yaml:1:6
        ");
    }

    #[test]
    fn a_place_outside_the_text_is_no_panic() {
        let mut all = Diagnostics::new(sources("é"));
        for (start, end) in [(1, 2), (7, 9), (2, 1), (0, 1), (2, 2)] {
            all.push(Diagnostic::at(Place { source: 0, start, end, line: 1, column: 1 }, "wrong"));
        }
        all.push(Diagnostic::at(Place { source: 4, start: 0, end: 0, line: 1, column: 1 }, "wrong"));
        assert_eq!(all.to_string().matches("error: wrong").count(), 6);
    }

    #[test]
    fn only_the_first_are_shown() {
        let mut all = Diagnostics::new(sources(""));
        for i in 0..60 {
            all.push(Diagnostic::without_place(format!("fault {i}")));
            all.push(Diagnostic::without_place(format!("fault {i}")));
        }
        assert!(all.to_string().ends_with("fault 49\n\n… and 10 more\n"), "{all}");
    }
}
