//! Text -> located tree: the only module that depends on how YAML is parsed.
//!
//! The tree is built from the events of `granit-parser`: through serde each node and its place would be copied several
//! times, which was a third of a run that finds nothing to do. An alias is a copy of the value that it refers to, with the
//! places of the original. A map keeps keys that are written twice, so that its reader reports them beside all
//! other errors.
//!
//! Scalars: `null`, `true`, `false` (no `yes` or `on`), integers from −2^127 to 2^127 − 1 (also `0x1F`, `0o17`), numbers
//! with a point or an exponent, `.inf`, `.nan`. All else is text; so are `017` and `1_000`, which YAML's versions read
//! differently. Tags have no meaning.

use std::collections::{HashMap, HashSet};

use cwm_contract::Value;
use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput};

use super::yaml_errors::{not_yaml, too_large};
use cwm_core::{Content, Diagnostic, Node, Place, SpannedStr};

/// The limits of nesting and of values, counting those that anchors and aliases copy; more are no pipeline.
const MAX_DEPTH: usize = 64;
const MAX_VALUES: usize = 1_000_000;

type Result<T> = std::result::Result<T, Diagnostic>;

/// Returns the tree of one document that is the text numbered `source`. An empty text is null.
///
/// # Errors
/// The problem of a text that is not one YAML document.
pub fn parse(text: &str, source: u32) -> Result<Node> {
    let mut options = granit_parser::Options::default();
    options.set_emit_comments(false);
    let parser = Parser::new_from_str_with_options(text, options);
    Reading { parser, text, source, anchors: HashMap::new(), values: 0 }.document()
}

/// A document while it is read.
struct Reading<'t> {
    parser: Parser<'t, StrInput<'t>>,
    text: &'t str,
    source: u32,
    /// The values with an anchor, by the parser's number, once they are read.
    anchors: HashMap<usize, Node>,
    /// The number of values so far.
    values: usize,
}

impl<'t> Reading<'t> {
    fn document(mut self) -> Result<Node> {
        self.event()?; // The stream's start.
        // Else it is the document's start.
        if let (Event::StreamEnd, span) = self.event()? {
            return Ok(Node { place: self.place(&span), origin: None, content: Content::Scalar(Value::Null) });
        }
        let first = self.event()?;
        let node = self.node(first, 0)?;
        self.event()?; // The document's end.
        match self.event()? {
            (Event::StreamEnd, _) => Ok(node),
            (_, span) => {
                let message = "a pipeline file is one YAML document, and here a second one begins";
                Err(Diagnostic::at(self.place(&span), message).hint("remove the `---`"))
            }
        }
    }

    fn event(&mut self) -> Result<(Event<'t>, Span)> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(not_yaml(&error, self.text, self.source)),
            None => Err(Diagnostic::without_place("this is not YAML: it ends before its document does")),
        }
    }

    /// The node that begins with this event, inside `depth` lists and maps.
    fn node(&mut self, (event, span): (Event<'t>, Span), depth: usize) -> Result<Node> {
        let place = self.place(&span);
        self.count(1, place)?;
        if let Event::Scalar(.., Some(tag)) | Event::SequenceStart(.., Some(tag)) | Event::MappingStart(.., Some(tag)) =
            &event
        {
            let message = format!("the tag `{}` has no meaning here", tag.original());
            return Err(Diagnostic::at(place, message).hint("remove it, or quote text that begins with `!`"));
        }
        if depth >= MAX_DEPTH && matches!(event, Event::SequenceStart(..) | Event::MappingStart(..)) {
            return Err(too_large(place, "more than 64 levels of nesting"));
        }
        let (content, anchor) = match event {
            Event::Scalar(text, ScalarStyle::Plain, anchor, _) => {
                let value = plain(&text, place)?.unwrap_or_else(|| Value::Text(text.into_owned()));
                (Content::Scalar(value), anchor)
            }
            Event::Scalar(text, _, anchor, _) => (Content::Scalar(Value::Text(text.into_owned())), anchor),
            Event::SequenceStart(_, anchor, _) => {
                let mut items = Vec::new();
                loop {
                    match self.event()? {
                        (Event::SequenceEnd, _) => break,
                        first => items.push(self.node(first, depth + 1)?),
                    }
                }
                (Content::List(items), anchor)
            }
            Event::MappingStart(_, anchor, _) => (Content::Map(self.entries(depth + 1)?), anchor),
            Event::Alias(anchor) => return self.alias(anchor, depth, place),
            _ => return Err(Diagnostic::at(place, "this is not YAML: a value is missing here")),
        };
        let node = Node { place, origin: None, content };
        if anchor != 0 {
            self.count(extent(&node).0, place)?;
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    /// The entries of a map: its own, then those that merge keys bring in and it does not have.
    fn entries(&mut self, depth: usize) -> Result<Vec<(SpannedStr, Node)>> {
        let mut entries = Vec::new();
        let mut merged = Vec::new();
        loop {
            let key = match self.event()? {
                (Event::MappingEnd, _) => break,
                first => self.key(first, depth)?,
            };
            let first = self.event()?;
            let value = self.node(first, depth)?;
            match key {
                Some(key) => entries.push((key, value)),
                None => merge(value, &mut merged)?,
            }
        }
        if !merged.is_empty() {
            let mut names: HashSet<String> = entries.iter().map(|(key, _)| key.text.clone()).collect();
            for mut others in merged {
                others.retain(|(key, _)| !names.contains(&key.text));
                names.extend(others.iter().map(|(key, _)| key.text.clone()));
                entries.append(&mut others);
            }
        }
        Ok(entries)
    }

    /// The key that begins with this event; nothing for a merge key.
    fn key(&mut self, (event, span): (Event<'t>, Span), depth: usize) -> Result<Option<SpannedStr>> {
        let place = self.place(&span);
        let event = match event {
            Event::Scalar(text, ScalarStyle::Plain, _, None) if text == "<<" => return Ok(None),
            // A key is text as it is written.
            Event::Scalar(text, ScalarStyle::Plain, anchor, tag) if !is_null(&text) => {
                Event::Scalar(text, ScalarStyle::SingleQuoted, anchor, tag)
            }
            other => other,
        };
        let key = self.node((event, span), depth)?.spanned_text();
        key.map(Some).ok_or_else(|| Diagnostic::at(place, "a key must be text").hint("quote it"))
    }

    /// A copy of the value that an alias refers to.
    fn alias(&mut self, anchor: usize, depth: usize, place: Place) -> Result<Node> {
        let Some(node) = self.anchors.get(&anchor) else {
            return Err(Diagnostic::at(place, "this alias is inside the value that it refers to"));
        };
        let (node, (values, levels)) = (node.clone(), extent(node));
        if depth + levels > MAX_DEPTH {
            return Err(too_large(place, "more than 64 levels of nesting"));
        }
        self.count(values, place)?;
        Ok(node)
    }

    fn count(&mut self, values: usize, place: Place) -> Result<()> {
        self.values += values;
        match self.values > MAX_VALUES {
            true => Err(too_large(place, "more than a million values, counting what anchors and aliases stand for")),
            false => Ok(()),
        }
    }

    fn place(&self, span: &Span) -> Place {
        let bytes = span.byte_range().unwrap_or_default();
        // A block scalar's span ends in the indentation of the line after it.
        let end = self.text.get(bytes.clone()).map_or(bytes.start, |text| bytes.start + text.trim_end().len());
        Place {
            source: self.source,
            start: bytes.start as u32,
            end: end as u32,
            line: span.start.line() as u32,
            column: span.start.col() as u32 + 1,
        }
    }
}

/// Collects the entries that the value of a merge key brings in, map by map.
fn merge(value: Node, merged: &mut Vec<Vec<(SpannedStr, Node)>>) -> Result<()> {
    match value.content {
        Content::Map(entries) => merged.push(entries),
        Content::List(items) => items.into_iter().try_for_each(|item| merge(item, merged))?,
        Content::Scalar(Value::Null) => {}
        Content::Scalar(_) => {
            let message = "the value of `<<` must be a map or a list of maps";
            return Err(Diagnostic::at(value.place, message));
        }
    }
    Ok(())
}

/// Returns the number of values in a node, and the levels of its nesting.
fn extent(node: &Node) -> (usize, usize) {
    let inner = |nodes: &mut dyn Iterator<Item = &Node>| {
        nodes.map(extent).fold((1, 1), |(values, levels), (more, below)| (values + more, levels.max(below + 1)))
    };
    match &node.content {
        Content::Scalar(_) => (1, 0),
        Content::List(items) => inner(&mut items.iter()),
        Content::Map(entries) => inner(&mut entries.iter().map(|(_, item)| item)),
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~") || text.eq_ignore_ascii_case("null")
}

/// Returns the value of a text without quotes, if it is not text.
fn plain(text: &str, place: Place) -> Result<Option<Value>> {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    Ok(match text.as_bytes() {
        [] | [b'~' | b'n' | b'N', ..] if is_null(text) => Some(Value::Null),
        [b't' | b'T', ..] if is("true") => Some(Value::Bool(true)),
        [b'f' | b'F', ..] if is("false") => Some(Value::Bool(false)),
        [b'0'..=b'9' | b'+' | b'-' | b'.', ..] => number(text, place)?,
        _ => None,
    })
}

/// Returns the same for a text that begins like a number.
fn number(text: &str, place: Place) -> Result<Option<Value>> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let radix = |radix| {
        let is_number = digits[2..].bytes().all(|byte| byte.is_ascii_alphanumeric());
        let number = i128::from_str_radix(&digits[2..], radix).ok().filter(|_| is_number);
        let number = number.map(|number| if text.starts_with('-') { -number } else { number });
        // A longer one is more likely a digest.
        number.filter(|number| (i64::MIN.into()..=u64::MAX.into()).contains(number)).map(Value::Int)
    };
    let too_large = |what: &str, hint: &str| Err(Diagnostic::at(place, what).hint(hint));
    match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => Ok(radix(16)),
        [b'0', b'o' | b'O', ..] => Ok(radix(8)),
        [b'0', b'b' | b'B', ..] => Ok(radix(2)),
        // YAML's versions read these differently.
        [b'0', b'0'..=b'9', ..] => Ok(None),
        [b'0'..=b'9', ..] if digits.bytes().all(|byte| byte.is_ascii_digit()) => match text.parse() {
            Ok(integer) => Ok(Some(Value::Int(integer))),
            Err(_) => too_large("this integer is not within −2^127 and 2^127 − 1", "quote it if it is text"),
        },
        [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => match text.parse::<f64>() {
            Ok(float) if float.is_finite() => Ok(Some(Value::Float(float))),
            Ok(_) => {
                too_large("this number is too large for a 64-bit float", "quote it if it is text, such as a digest")
            }
            Err(_) => Ok(None),
        },
        _ if digits.eq_ignore_ascii_case(".nan") => Ok(Some(Value::Float(f64::NAN))),
        _ if digits.eq_ignore_ascii_case(".inf") => {
            Ok(Some(Value::Float(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY })))
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(text: &str) -> Value {
        parse(text, 0).unwrap().value()
    }

    #[test]
    fn scalars_are_what_the_first_lines_say() {
        use Value::{Bool, Float, Int, Null, Text};
        for (text, wanted) in [
            ("9007199254740993", Int((1 << 53) + 1)),
            ("170141183460469231731687303715884105727", Int(i128::MAX)),
            ("-170141183460469231731687303715884105728", Int(i128::MIN)),
            ("0x1F", Int(31)),
            ("0o17", Int(15)),
            ("+5", Int(5)),
            ("1e-3", Float(1e-3)),
            ("3.0e-3", Float(3e-3)),
            ("1.", Float(1.0)),
            ("0.5", Float(0.5)),
            ("-.inf", Float(f64::NEG_INFINITY)),
            ("017", Text("017".into())),
            ("1_000", Text("1_000".into())),
            ("yes", Text("yes".into())),
            ("on", Text("on".into())),
            ("'1'", Text("1".into())),
            ("true", Bool(true)),
            ("~", Null),
            ("", Null),
        ] {
            assert_eq!(value(text), wanted, "{text}");
        }
        for wrong in ["12e4567", "170141183460469231731687303715884105728"] {
            assert!(parse(wrong, 0).is_err(), "{wrong}");
        }
    }

    #[test]
    fn everything_has_its_place_also_after_merges_and_letters_of_two_bytes() {
        let text = "é: &base { lr: 1e-3 }\nä:\n  <<: *base\n  run: |\n    one\n    two\nz: 1\n";
        let node = parse(text, 3).unwrap();
        let mut found = Vec::new();
        fn push(place: Place, text: &str, found: &mut Vec<String>) {
            assert_eq!(place.source, 3);
            let before = &text[..place.start as usize];
            assert_eq!(before.matches('\n').count() + 1, place.line as usize);
            assert_eq!(before.rsplit('\n').next().unwrap().chars().count() + 1, place.column as usize);
            found.push(format!(
                "{}:{} {:?}",
                place.line,
                place.column,
                &text[place.start as usize..place.end as usize]
            ));
        }
        fn walk(node: &Node, text: &str, found: &mut Vec<String>) {
            match &node.content {
                Content::Scalar(_) => push(node.place, text, found),
                Content::List(items) => items.iter().for_each(|item| walk(item, text, found)),
                Content::Map(entries) => {
                    for (key, item) in entries {
                        push(key.place, text, found);
                        walk(item, text, found);
                    }
                }
            }
        }
        walk(&node, text, &mut found);
        insta::assert_snapshot!(found.join("\n"), @r#"
        1:1 "é"
        1:12 "lr"
        1:16 "1e-3"
        2:1 "ä"
        4:3 "run"
        5:5 "one\n    two"
        1:12 "lr"
        1:16 "1e-3"
        7:1 "z"
        7:4 "1"
        "#);
    }

    #[test]
    fn keys_written_twice_are_all_kept() {
        let node = parse("a: 1\nb: 2\na: 3\nb: {c: 1, c: 2}\n", 0).unwrap();
        let Content::Map(entries) = node.content else { panic!() };
        assert_eq!(entries.iter().map(|(key, _)| key.text.as_str()).collect::<String>(), "abab");
    }

    #[test]
    fn a_merged_key_may_be_overridden() {
        let node = parse("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\n", 0).unwrap();
        assert_eq!(node.value().to_string(), "{a: {x: 1, y: 2}, b: {x: 1, y: 3}}");
    }

    #[test]
    fn the_maps_own_keys_come_before_merged_ones_and_those_in_their_order() {
        let text = "a: &a {p: 1, q: 2}\nb: &b {<<: *a, q: 3, r: 4}\nc: {<<: [*b, *a, null], s: 5}\nd: {<<: *a, <<: *b, p: 6}\n'<<': 7\n";
        let Value::Map(found) = value(text) else { panic!() };
        let shown = |name: &str| found[name].to_string();
        assert_eq!(shown("b"), "{p: 1, q: 3, r: 4}");
        assert_eq!(shown("c"), "{p: 1, q: 3, r: 4, s: 5}");
        assert_eq!(shown("d"), "{p: 6, q: 2, r: 4}");
        assert_eq!(shown("<<"), "7", "in quotes it is a key as others");
    }

    #[test]
    fn what_cannot_be_read_is_refused_at_its_place() {
        for (text, column, words) in [
            ("a: &a [*a]", 8, "this alias is inside the value that it refers to"),
            ("a: {<<: 1}", 9, "must be a map or a list of maps"),
            ("[a]: 1", 1, "a key must be text"),
            ("~: 1", 1, "a key must be text"),
            ("!!int 1: 1", 7, "the tag `!!int` has no meaning here"),
            ("a: !t x", 7, "the tag `!t` has no meaning here"),
            ("a: !!str x", 10, "the tag `!!str` has no meaning here"),
            ("a: !!seq [1]", 10, "the tag `!!seq` has no meaning here"),
            ("a: *b", 4, "this alias refers to no anchor"),
            ("a: [", 4, "unclosed bracket"),
            ("--- a\n--- b", 1, "here a second one begins"),
        ] {
            let refused = parse(text, 0).expect_err(text);
            assert!(refused.message.contains(words), "{text}: {}", refused.message);
            assert_eq!(refused.place.map(|place| place.column), Some(column), "{text}");
        }
    }

    /// Returns true if what `serde-saphyr` reads is the same, but for what the first lines here say of numbers.
    fn is_same(ours: &Value, theirs: &serde_json::Value) -> bool {
        use serde_json::Value as Json;
        match (ours, theirs) {
            (Value::Null, Json::Null) => true,
            (Value::Bool(ours), Json::Bool(theirs)) => ours == theirs,
            (Value::Text(ours), Json::String(theirs)) => ours == theirs,
            (Value::Text(ours), Json::Number(_)) => {
                let digits = ours.trim_start_matches(['+', '-']);
                ours.contains('_') || digits.len() > 1 && digits.starts_with('0')
            }
            (Value::Int(ours), Json::Number(theirs)) => {
                theirs.as_i128() == Some(*ours) || theirs.as_f64() == Some(*ours as f64)
            }
            (Value::Float(ours), Json::Number(theirs)) => theirs.as_f64() == Some(*ours),
            (Value::Float(ours), Json::Null) => !ours.is_finite(),
            (Value::List(ours), Json::Array(theirs)) => {
                ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| is_same(ours, theirs))
            }
            (Value::Map(ours), Json::Object(theirs)) => {
                ours.len() == theirs.len()
                    && ours.iter().all(|(key, ours)| theirs.get(key).is_some_and(|theirs| is_same(ours, theirs)))
            }
            _ => false,
        }
    }

    fn has_duplicate(node: &Node) -> bool {
        match &node.content {
            Content::Scalar(_) => false,
            Content::List(items) => items.iter().any(has_duplicate),
            Content::Map(entries) => {
                let mut seen = HashSet::new();
                entries.iter().any(|(key, value)| !seen.insert(&key.text) || has_duplicate(value))
            }
        }
    }

    /// Holds what is read against another reader of YAML, and places against the text.
    fn hold(text: &str) -> std::result::Result<(), TestCaseError> {
        let options = serde_yaml::options! {
            strict_booleans: true,
            reject_unsupported_tags: true,
            non_finite_float_policy: serde_yaml::options::NonFiniteFloatPolicy::PassThrough,
        };
        match (parse(text, 0), serde_yaml::from_str_with_options::<serde_json::Value>(text, options)) {
            (Ok(ours), Ok(theirs)) => prop_assert!(is_same(&ours.value(), &theirs), "{text:?}: {ours:?}, {theirs:?}"),
            (Ok(ours), Err(theirs)) => prop_assert!(has_duplicate(&ours), "{text:?}: {ours:?}, {theirs}"),
            // They do not read what stands behind the end of a document; we keep integers exact, and support no tags.
            (Err(ours), Ok(theirs)) => prop_assert!(
                text.contains("...") || ["number", "integer", "the tag"].iter().any(|word| ours.message.contains(word)),
                "{text:?}: {ours:?}, {theirs}"
            ),
            (Err(ours), Err(_)) => {
                let place = ours.place.expect("a place");
                prop_assert!(place.end as usize <= text.len() && place.line >= 1 && place.column >= 1, "{ours:?}");
            }
        }
        Ok(())
    }

    #[test]
    fn the_repositorys_pipelines_are_what_another_reader_reads() {
        let mut count = 0;
        for folder in [".", "pipelines/chess-world-model", "examples/pytorch", "examples/own-stage"] {
            let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(folder);
            for entry in std::fs::read_dir(folder).expect("a folder of pipelines") {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "yaml") {
                    hold(&std::fs::read_to_string(&path).unwrap()).unwrap();
                    count += 1;
                }
            }
        }
        assert!(count >= 8, "{count}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_scalar_is_what_another_reader_reads(text in "[-+.0-9eExob_infaNIAtru~:é\" ]{0,9}") {
            hold(&format!("a: [{text}]"))?;
            hold(&format!("a: {text}\n{text}: a"))?;
            hold(&text)?;
        }

        #[test]
        fn any_text_is_what_another_reader_reads(pieces in prop::collection::vec(
            prop::sample::select(vec![
                "a", "b: ", "- ", "\n", "\n  ", "\n    ", "{", "}", "[", "]", ", ", ": ", "'", "\"", "|\n", ">\n", "#", " # c\n",
                "&x ", "*x", "<<: ", "!t ", "?", "---\n", "...\n", "1", "0.5", "é", "\t", "\\", "%", "\u{feff}", "\r\n", "null",
            ]), 0..24)) {
            hold(&pieces.concat())?;
        }

        #[test]
        fn any_merge_is_what_another_reader_makes_of_it(pieces in prop::collection::vec(
            prop::sample::select(vec![
                "a: &x {p: 1, q: 2}\n", "b: &y {q: 3, r: [1, *x]}\n", "c: &z [*x, *y]\n", "d: {<<: *x, q: 7}\n",
                "e: {<<: *z, s: 1}\n", "f: &y {<<: [*y, *x], u: *z}\n", "<<: *y\n", "<<: *z\n", "<<: {a: 0, k: *x}\n",
                "a: 5\n", "g: *y\n", "h: {<<: {p: 1, p: 2}}\n", "&k i: &x 1\n", "*k : 4\n",
            ]), 0..9)) {
            hold(&pieces.concat())?;
        }
    }
}
