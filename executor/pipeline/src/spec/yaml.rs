//! Text -> located tree: the only module that knows how YAML is parsed, with [`yaml_plain`](super::yaml_plain), which reads
//! what is usual in less time, and what this then need not.
//!
//! `serde_yaml` is serde-saphyr under that name. It gives the place of every node ([`Spanned`]), refuses bombs by a
//! budget, and stops at a key that is written twice. As all faults are to be told at once, such a text is read again
//! with the last one winning; the tree then holds both, and whoever reads the map says what stands there twice.
//!
//! Scalars: `null`, `true`, `false` (no `yes` or `on`), integers from −2^127 to 2^127 − 1 (also `0x1F`, `0o17`), numbers
//! with a point or an exponent, `.inf`, `.nan`. All else is text; so are `017` and `1_000`, which YAML's versions read
//! differently.

use cwm_contract::Value;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_yaml::{Location, Options, Spanned, from_str_with_options};

use super::yaml_fault as fault;
use super::yaml_plain;
use cwm_core::diagnostics::{Diagnostic, Place};
use cwm_core::located::{Content, Node, Word};

/// A larger file is no pipeline.
pub const LARGEST: usize = 16 << 20;

/// The tree of one document that is the text numbered `source`. An empty text is null.
///
/// # Errors
/// Why this is not one YAML document.
pub fn parse(text: &str, source: u32) -> Result<Node, Box<Diagnostic>> {
    if text.len() > LARGEST {
        return Err(Box::new(Diagnostic::nowhere(format!(
            "a text of {} MiB is too long for a pipeline file: at most {} MiB are read",
            text.len() >> 20,
            LARGEST >> 20
        ))));
    }
    yaml_plain::parse(text, source).map_or_else(|| through_serde(text, source), Ok)
}

/// As [`parse`], of whatever is in the text.
pub(super) fn through_serde(text: &str, source: u32) -> Result<Node, Box<Diagnostic>> {
    let read = |duplicates| from_str_with_options::<Tree>(text, options(duplicates));
    let reading = Reading { text, source };
    match read(DuplicateKeyPolicy::Error) {
        Ok(tree) => reading.node(tree),
        Err(error) if fault::is_duplicate(&error) => {
            let first = reading.fault(&error);
            let node = reading.node(read(DuplicateKeyPolicy::LastWins).map_err(|_| first.clone())?)?;
            // Keys that are integers are compared by value, and of those only the last is left: the first reading's
            // error is then all there is to tell.
            if has_duplicate(&node) { Ok(node) } else { Err(first) }
        }
        Err(error) => Err(reading.fault(&error)),
    }
}

fn options(duplicate_keys: DuplicateKeyPolicy) -> Options {
    serde_yaml::options! {
        duplicate_keys: duplicate_keys,
        strict_booleans: true,
        with_snippet: false,
        emit_comments: false,
        reject_unsupported_tags: true,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        budget: serde_yaml::budget! {
            max_events: 5_000_000,
            max_nodes: 2_000_000,
            max_aliases: 10_000,
            max_depth: 64,
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: serde_yaml::alias_limits! { max_total_replayed_events: 200_000 },
    }
}

fn has_duplicate(node: &Node) -> bool {
    match &node.content {
        Content::Scalar(_) => false,
        Content::List(items) => items.iter().any(has_duplicate),
        Content::Map(entries) => {
            let mut seen = std::collections::HashSet::new();
            entries.iter().any(|(key, value)| !seen.insert(&key.text) || has_duplicate(value))
        }
    }
}

/// A node as the parser hands it over.
struct Tree(Spanned<Untyped>);

enum Untyped {
    Scalar(Value),
    List(Vec<Tree>),
    Map(Vec<(Spanned<String>, Tree)>),
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::deserialize(deserializer).map(Tree)
    }
}

impl<'de> Deserialize<'de> for Untyped {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything)
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Untyped;

    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("a value")
    }
    fn visit_unit<E>(self) -> Result<Untyped, E> {
        Ok(Untyped::Scalar(Value::Null))
    }
    fn visit_bool<E>(self, value: bool) -> Result<Untyped, E> {
        Ok(Untyped::Scalar(Value::Bool(value)))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Untyped, E> {
        Ok(Untyped::Scalar(Value::Int(value.into())))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Untyped, E> {
        Ok(Untyped::Scalar(Value::Int(value.into())))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Untyped, E> {
        Ok(Untyped::Scalar(Value::Float(value)))
    }
    fn visit_str<E>(self, value: &str) -> Result<Untyped, E> {
        Ok(Untyped::Scalar(Value::Text(value.to_owned())))
    }
    fn visit_string<E>(self, value: String) -> Result<Untyped, E> {
        Ok(Untyped::Scalar(Value::Text(value)))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Untyped, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Untyped::List(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Untyped, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Untyped::Map(map))
    }
}

/// What turns the parser's tree into ours.
struct Reading<'a> {
    text: &'a str,
    source: u32,
}

impl Reading<'_> {
    fn fault(&self, error: &serde_yaml::Error) -> Box<Diagnostic> {
        Box::new(fault::diagnostic(error, self.text, self.source))
    }

    fn place(&self, at: Location) -> Place {
        let (start, length) = match (at.span().byte_offset(), at.span().byte_len()) {
            (Some(start), Some(length)) => (start as u32, length as u32),
            _ => (0, 0),
        };
        // A block scalar's span ends in the indentation of the line after it.
        let end = self
            .text
            .get(start as usize..start.saturating_add(length) as usize)
            .map_or(start, |span| start + span.trim_end().len() as u32);
        Place { source: self.source, start, end, line: at.line() as u32, column: at.column() as u32 }
    }

    fn node(&self, Tree(spanned): Tree) -> Result<Node, Box<Diagnostic>> {
        let place = self.place(spanned.defined);
        let content = match spanned.value {
            Untyped::Scalar(value) => Content::Scalar(self.exact(value, place)?),
            Untyped::List(items) => {
                Content::List(items.into_iter().map(|item| self.node(item)).collect::<Result<_, _>>()?)
            }
            Untyped::Map(entries) => Content::Map(
                entries
                    .into_iter()
                    .map(|(key, value)| {
                        Ok((Word { place: self.place(key.defined), text: key.value }, self.node(value)?))
                    })
                    .collect::<Result<_, Box<Diagnostic>>>()?,
            ),
        };
        Ok(Node { place, origin: None, content })
    }

    /// The parser knows integers of 64 bits and makes floats of longer ones, silently: what was written decides.
    fn exact(&self, value: Value, place: Place) -> Result<Value, Box<Diagnostic>> {
        if !matches!(value, Value::Int(_) | Value::Float(_)) {
            return Ok(value);
        }
        let written = self.text.get(place.start as usize..place.end as usize).unwrap_or_default();
        let digits = written.trim_start_matches(['+', '-']);
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if written.contains('_')
            || (digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit())
        {
            return Ok(Value::Text(written.to_owned()));
        }
        match value {
            Value::Float(x) if plain && x.abs() >= 9e15 => written.parse().map(Value::Int).map_err(|_| {
                Box::new(
                    Diagnostic::at(place, "this integer is not within −2^127 and 2^127 − 1")
                        .hint("quote it if it is text"),
                )
            }),
            Value::Float(x) if x.is_infinite() && !written.to_ascii_lowercase().contains("inf") => Err(Box::new(
                Diagnostic::at(place, "this number is too large for a 64-bit float")
                    .hint("quote it if it is text, such as a digest"),
            )),
            other => Ok(other),
        }
    }
}

#[cfg(test)]
mod tests {
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
            ("!!str 5", Text("5".into())),
            ("!!float 5", Float(5.0)),
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
        fn tell(place: Place, text: &str, found: &mut Vec<String>) {
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
                Content::Scalar(_) => tell(node.place, text, found),
                Content::List(items) => items.iter().for_each(|item| walk(item, text, found)),
                Content::Map(entries) => {
                    for (key, item) in entries {
                        tell(key.place, text, found);
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
}
