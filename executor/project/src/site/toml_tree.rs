//! Text -> located tree: the only module that knows how TOML is parsed.

use std::ops::Range;

use cwm_contract::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use cwm_core::{Content, Diagnostic, Node, Place, SpannedStr};

/// The tree of a text, as far as it can be read, and all that is wrong with it as TOML.
pub fn parse(text: &str) -> (Node, Vec<Diagnostic>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let reading = Reading { text };
    let mut faults: Vec<Diagnostic> = errors
        .iter()
        .map(|error| {
            let place = reading.place(error.span().unwrap_or(0..0));
            Diagnostic::at(place, format!("this is not TOML: {}", error.message().replace('\n', ", ")))
        })
        .collect();
    let node = reading.table(table.span(), table.get_ref(), &mut faults);
    (node, faults)
}

/// What is read.
struct Reading<'t> {
    text: &'t str,
}

impl Reading<'_> {
    fn place(&self, span: Range<usize>) -> Place {
        let start = self.boundary(span.start);
        let end = self.boundary(span.end).max(start);
        let before = &self.text[..start];
        Place {
            source: 0,
            start: start as u32,
            end: end as u32,
            line: before.matches('\n').count() as u32 + 1,
            column: before.rsplit('\n').next().map_or(0, |line| line.chars().count()) as u32 + 1,
        }
    }

    /// The place in the text nearest before `at` at which a character begins.
    fn boundary(&self, at: usize) -> usize {
        (0..=at.min(self.text.len())).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(0)
    }

    fn table(&self, span: Range<usize>, table: &DeTable<'_>, faults: &mut Vec<Diagnostic>) -> Node {
        let mut entries: Vec<(SpannedStr, Node)> = table
            .iter()
            .map(|(key, value)| {
                let word = SpannedStr { text: key.get_ref().clone().into_owned(), place: self.place(key.span()) };
                (word, self.value(value, faults))
            })
            .collect();
        entries.sort_by_key(|(key, _)| key.place.start);
        Node { place: self.place(span), origin: None, content: Content::Map(entries) }
    }

    fn value(&self, value: &Spanned<DeValue<'_>>, faults: &mut Vec<Diagnostic>) -> Node {
        let place = self.place(value.span());
        let scalar = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.clone().into_owned()),
            DeValue::Boolean(boolean) => Value::Bool(*boolean),
            DeValue::Datetime(time) => Value::Text(time.to_string()),
            DeValue::Float(float) => match float.as_str().parse() {
                Ok(float) => Value::Float(float),
                Err(_) => refused(place, faults),
            },
            DeValue::Integer(integer) => match i128::from_str_radix(integer.as_str(), integer.radix()) {
                Ok(integer) => Value::Int(integer),
                Err(_) => refused(place, faults),
            },
            DeValue::Array(items) => {
                let items = items.iter().map(|item| self.value(item, faults)).collect();
                return Node { place, origin: None, content: Content::List(items) };
            }
            DeValue::Table(table) => return self.table(value.span(), table, faults),
        };
        Node { place, origin: None, content: Content::Scalar(scalar) }
    }
}

fn refused(place: Place, faults: &mut Vec<Diagnostic>) -> Value {
    faults.push(Diagnostic::at(place, "this number is too large"));
    Value::Null
}
