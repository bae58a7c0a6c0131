//! YAML as a tree in which each node has its place. The parser is `executor/pipeline/src/spec/yaml.rs`.

use std::collections::BTreeMap;
use std::time::Duration;

use cwm_contract::Value;

use crate::diagnostics::{Diagnostic, Place};
use crate::text::parse_setting_duration;

/// The form of a time, for messages.
pub const DURATION: &str = "a time such as `90s`, `10m` or `1h30m`";

/// One piece of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its place. The content of an alias or a merge key has the place where it was written first.
    pub place: Place,
    /// The origin of its value, once a `$name` was replaced: the variable or the value of the axis.
    pub origin: Option<Place>,
    /// Its content.
    pub content: Content,
}

/// The content of a [`Node`].
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Null, a boolean, a number or text; never a list or a map.
    Scalar(Value),
    /// A list.
    List(Vec<Node>),
    /// A map as written: in its order, and with duplicate keys.
    Map(Vec<(SpannedStr, Node)>),
}

/// Text that was written: a key, a name, a reference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpannedStr {
    /// The text.
    pub text: String,
    /// Its place.
    pub place: Place,
}

impl Node {
    /// Returns the text, if this is text.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the text with its place, if this is text.
    pub fn spanned_text(&self) -> Option<SpannedStr> {
        self.text().map(|text| SpannedStr { text: text.to_owned(), place: self.place })
    }

    /// Returns the place of its value: that of the variable or the axis if it comes from one.
    pub fn value_place(&self) -> Place {
        self.origin.unwrap_or(self.place)
    }

    /// Returns the scalar, if this is one.
    pub fn scalar(&self) -> Option<&Value> {
        match &self.content {
            Content::Scalar(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the time, if this is one from a millisecond to a thousand days: whole seconds, or numbers with units, the larger
    /// ones first.
    pub fn duration(&self) -> Option<Duration> {
        parse_setting_duration(&self.scalar()?.to_string())
    }

    /// Returns a problem of this value, which also shows the variable or the axis that it comes from.
    pub fn problem(&self, message: impl Into<String>) -> Diagnostic {
        let problem = Diagnostic::at(self.place, message);
        self.origin.into_iter().fold(problem, |problem, origin| problem.related(origin, "its value comes from here"))
    }

    /// Returns the name of this kind of content, with an article.
    pub fn kind(&self) -> &'static str {
        match &self.content {
            Content::Scalar(value) => value.kind(),
            Content::List(_) => "a list",
            Content::Map(_) => "a map",
        }
    }

    /// Returns the plain value, without places. Of a key written twice the last value counts.
    pub fn value(&self) -> Value {
        match &self.content {
            Content::Scalar(value) => value.clone(),
            Content::List(items) => Value::List(items.iter().map(Node::value).collect()),
            Content::Map(entries) => Value::Map(
                entries.iter().map(|(key, item)| (key.text.clone(), item.value())).collect::<BTreeMap<_, _>>(),
            ),
        }
    }
}
