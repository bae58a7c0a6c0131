//! The tree of a text in TOML, in which everything has its place.

use std::borrow::Cow;
use std::ops::Range;

use cwm_contract::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use cwm_core::{Content, Diagnostic, Node, Place, SpannedStr};

/// Parses a text as far as it can be read, with all that is wrong with it as TOML.
pub fn parse(text: &str) -> (Node, Vec<Diagnostic>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let reading = Reading { text };
    let fault = |error: &toml::de::Error| {
        let place = reading.place(error.span().unwrap_or(0..0));
        Diagnostic::at(place, format!("this is not TOML: {}", error.message().replace('\n', ", ")))
    };
    let place = reading.place(table.span());
    let root = Node { place, origin: None, content: reading.table(table.get_ref()) };
    (root, errors.iter().map(fault).collect())
}

/// The text that a tree is of.
struct Reading<'t> {
    text: &'t str,
}

impl Reading<'_> {
    fn place(&self, span: Range<usize>) -> Place {
        let start = self.text.floor_char_boundary(span.start);
        let end = self.text.floor_char_boundary(span.end).max(start);
        let before = &self.text[..start];
        Place {
            source: 0,
            start: start as u32,
            end: end as u32,
            line: before.matches('\n').count() as u32 + 1,
            column: before.rsplit('\n').next().map_or(0, |line| line.chars().count()) as u32 + 1,
        }
    }

    fn table(&self, table: &DeTable<'_>) -> Content {
        let entry = |(key, value): (&Spanned<Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
            let word = SpannedStr { text: key.get_ref().to_string(), place: self.place(key.span()) };
            (word, self.node(value))
        };
        let mut entries: Vec<_> = table.iter().map(entry).collect();
        entries.sort_by_key(|(key, _)| key.place.start);
        Content::Map(entries)
    }

    fn node(&self, value: &Spanned<DeValue<'_>>) -> Node {
        let content = match value.get_ref() {
            DeValue::String(text) => Content::Scalar(Value::Text(text.to_string())),
            DeValue::Boolean(boolean) => Content::Scalar(Value::Bool(*boolean)),
            DeValue::Datetime(time) => Content::Scalar(Value::Text(time.to_string())),
            // A number that is too large stays text, which no setting takes that is a number.
            DeValue::Float(float) => Content::Scalar(match float.as_str().parse() {
                Ok(number) => Value::Float(number),
                Err(_) => Value::Text(float.to_string()),
            }),
            DeValue::Integer(integer) => {
                Content::Scalar(match i128::from_str_radix(integer.as_str(), integer.radix()) {
                    Ok(number) => Value::Int(number),
                    Err(_) => Value::Text(integer.to_string()),
                })
            }
            DeValue::Array(items) => Content::List(items.iter().map(|item| self.node(item)).collect()),
            DeValue::Table(table) => self.table(table),
        };
        Node { place: self.place(value.span()), origin: None, content }
    }
}
