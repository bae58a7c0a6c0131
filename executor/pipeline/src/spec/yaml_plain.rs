//! The tree of a text without anchors, aliases, merges and tags, straight from the parser's events.
//!
//! [`yaml`](super::yaml) reads every text through serde, which copies each node and its place several times over: of a
//! run that finds nothing to do, that was a third. `granit-parser` is the parser below it, so what is a scalar, a list and
//! a map is the same here. What this does not know, and whatever is wrong, it leaves to that one: `None`. Tests hold the
//! trees of both to each other.

use cwm_contract::Value;
use granit_parser::{Event, Parser, ScalarStyle, Span};

use cwm_core::diagnostics::Place;
use cwm_core::located::{Content, Node, Word};

/// Less than what [`yaml`](super::yaml) allows.
const DEEPEST: usize = 48;
const MOST_NODES: usize = 1_000_000;

/// The tree of `text`, which is numbered `source`, if it is as simple as that.
pub fn parse(text: &str, source: u32) -> Option<Node> {
    let mut options = granit_parser::Options::default();
    options.set_emit_comments(false);
    let mut reading = Reading { parser: Parser::new_from_str_with_options(text, options), text, source, nodes: 0 };
    let Event::StreamStart = reading.event()?.0 else { return None };
    let Event::DocumentStart(..) = reading.event()?.0 else { return None };
    let first = reading.event()?;
    let node = reading.node(first, 0)?;
    let Event::DocumentEnd = reading.event()?.0 else { return None };
    let Event::StreamEnd = reading.event()?.0 else { return None };
    Some(node)
}

struct Reading<'t> {
    parser: Parser<'t, granit_parser::StrInput<'t>>,
    text: &'t str,
    source: u32,
    nodes: usize,
}

impl<'t> Reading<'t> {
    fn event(&mut self) -> Option<(Event<'t>, Span)> {
        self.parser.next_event()?.ok()
    }

    /// The node that begins with this event.
    fn node(&mut self, (event, span): (Event<'t>, Span), depth: usize) -> Option<Node> {
        self.nodes += 1;
        if depth > DEEPEST || self.nodes > MOST_NODES {
            return None;
        }
        let content = match event {
            Event::Scalar(text, ScalarStyle::Plain, 0, None) => Content::Scalar(match of_plain(&text)? {
                Plain::Value(value) => value,
                Plain::Text => Value::Text(text.into_owned()),
            }),
            Event::Scalar(text, _, 0, None) => Content::Scalar(Value::Text(text.into_owned())),
            Event::SequenceStart(_, 0, None) => {
                let mut items = Vec::new();
                loop {
                    match self.event()? {
                        (Event::SequenceEnd, _) => break,
                        first => items.push(self.node(first, depth + 1)?),
                    }
                }
                Content::List(items)
            }
            Event::MappingStart(_, 0, None) => {
                let mut entries = Vec::new();
                loop {
                    match self.event()? {
                        (Event::MappingEnd, _) => break,
                        first => {
                            let key = self.key(first)?;
                            let first = self.event()?;
                            entries.push((key, self.node(first, depth + 1)?));
                        }
                    }
                }
                Content::Map(entries)
            }
            _ => return None,
        };
        Some(Node { place: self.place(&span)?, origin: None, content })
    }

    /// A key that is text and nothing else.
    fn key(&self, (event, span): (Event<'t>, Span)) -> Option<Word> {
        let Event::Scalar(text, style, 0, None) = event else { return None };
        let is_text = match style {
            ScalarStyle::Plain => matches!(of_plain(&text)?, Plain::Text),
            _ => !text.is_empty(),
        };
        if !is_text || text == "<<" {
            return None;
        }
        Some(Word { place: self.place(&span)?, text: text.into_owned() })
    }

    fn place(&self, span: &Span) -> Option<Place> {
        let bytes = span.byte_range()?;
        // A block scalar's span ends in the indentation of the line after it.
        let end = bytes.start + self.text.get(bytes.clone())?.trim_end().len();
        Some(Place {
            source: self.source,
            start: bytes.start as u32,
            end: end as u32,
            line: span.start.line() as u32,
            column: span.start.col() as u32 + 1,
        })
    }
}

/// What is written without quotes.
enum Plain {
    Value(Value),
    Text,
}

/// What `text`, written without quotes, is; `None` where that takes more thought.
fn of_plain(text: &str) -> Option<Plain> {
    let Some(first) = text.bytes().next() else { return Some(Plain::Value(Value::Null)) };
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    match first {
        b'~' if text.len() == 1 => Some(Plain::Value(Value::Null)),
        b'n' | b'N' if is("null") => Some(Plain::Value(Value::Null)),
        b't' | b'T' if is("true") => Some(Plain::Value(Value::Bool(true))),
        b'f' | b'F' if is("false") => Some(Plain::Value(Value::Bool(false))),
        b'0'..=b'9' | b'+' | b'-' | b'.' => of_number(text),
        _ => Some(Plain::Text),
    }
}

/// As [`of_plain`], of what begins like a number.
fn of_number(text: &str) -> Option<Plain> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    match digits.as_bytes() {
        [b'0', b'x' | b'X' | b'o' | b'O' | b'b' | b'B', ..] => None,
        // YAML's versions read these differently.
        [b'0', b'0'..=b'9', ..] => Some(Plain::Text),
        [b'0'..=b'9', ..] if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse().ok().map(|number| Plain::Value(Value::Int(number)))
        }
        [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Some(Plain::Value(Value::Float(number))),
            Ok(_) => None,
            Err(_) => Some(Plain::Text),
        },
        [b'.', b'i' | b'I' | b'n' | b'N', ..] => None,
        _ => Some(Plain::Text),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::spec::yaml;

    /// Both trees, if there is one of events: equal, floats by what is written of them.
    fn hold(text: &str) -> Result<bool, TestCaseError> {
        let Some(simple) = parse(text, 7) else { return Ok(false) };
        let Ok(full) = yaml::through_serde(text, 7) else {
            return Err(TestCaseError::fail(format!("refused, and read all the same: {text:?}")));
        };
        prop_assert_eq!(format!("{simple:?}"), format!("{full:?}"), "{:?}", text);
        Ok(true)
    }

    #[test]
    fn the_usual_is_read_here_and_all_else_is_left() {
        let usual = [
            "a: 1",
            "- a\n- 'b'\n- \"c\\n\"\n",
            "é: {b: [1, -2, +3, 1.5, 1e-3, -.5, 1., 170141183460469231731687303715884105727], c: }\n",
            "run: |\n  one\n    two\nfold: >-\n  a\n  b\n\n# end\n",
            "--- # one document\na: [true, False, null, ~, yes, 'true', 017, 1_000, 2025-03, 30d, a: b]\n",
            "a: 1\na: 2\n",
            "{\"quoted\": x, 'it''s': y,\n  z: multi\n  line}\n",
            "? a\n: b\n",
        ];
        for text in usual {
            assert!(hold(text).unwrap(), "{text}");
        }
        let left = ["", "a: &b 1", "a: *b", "<<: {a: 1}", "a: !!str 1", "1: a", "~: a", "[a]: b", "a: 0x1F", "a: .inf"];
        for text in left.into_iter().chain(["a: 1\n---\nb: 2\n", "a: [", "a: b: c", "12e4567"]) {
            assert!(!hold(text).unwrap(), "{text}");
        }
    }

    #[test]
    fn our_pipelines_are_read_here() {
        let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let mut simple = 0;
        for entry in std::fs::read_dir(root).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "yaml") {
                simple += usize::from(hold(&std::fs::read_to_string(&path).unwrap()).unwrap());
            }
        }
        assert!(simple >= 2, "{simple}");
    }

    proptest! {
        #[test]
        fn any_scalar_is_what_it_is_through_serde(text in "[-+.0-9eExob_infaNIAtru~:é\" ]{0,9}") {
            hold(&format!("a: [{text}]"))?;
            hold(&format!("a: {text}\n{text}: a"))?;
            hold(&text)?;
        }

        #[test]
        fn any_text_is_read_as_through_serde(pieces in prop::collection::vec(
            prop::sample::select(vec![
                "a", "b: ", "- ", "\n", "\n  ", "\n    ", "{", "}", "[", "]", ", ", ": ", "'", "\"", "|\n", ">\n", "#", " # c\n",
                "&x ", "*x", "<<: ", "!t ", "?", "---\n", "...\n", "1", "0.5", "é", "\t", "\\", "%", "\u{feff}", "\r\n", "null",
            ]), 0..24)) {
            hold(&pieces.concat())?;
        }
    }
}
