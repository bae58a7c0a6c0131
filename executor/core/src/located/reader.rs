//! Reading maps, lists and text out of a tree, and saying what is wrong with them.

use std::collections::HashMap;

use super::node::{Content, Node, SpannedStr};
use crate::diagnostics::{Diagnostic, Diagnostics, Place};
use crate::names::suggest;

/// Collects what is wrong while a tree is read.
pub struct NodeReader<'a> {
    /// The faults so far.
    pub problems: &'a mut Diagnostics,
}

impl NodeReader<'_> {
    /// Reports one fault.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.problems.push(diagnostic);
    }

    /// The entries of a map, each key once; `what` names the map in messages (`vars`), `entry` one entry (`variable`).
    /// Null is an empty map: a key with nothing after it.
    pub fn map<'n>(&mut self, node: &'n Node, what: &str, entry: &str) -> Vec<&'n (SpannedStr, Node)> {
        let entries = match &node.content {
            Content::Map(entries) => entries,
            _ if node.scalar() == Some(&cwm_contract::Value::Null) => return Vec::new(),
            _ => {
                self.report(Diagnostic::at(node.place, format!("{what} must be a map, not {}", node.kind())));
                return Vec::new();
            }
        };
        let mut known: HashMap<&str, Place> = HashMap::with_capacity(entries.len());
        let mut kept = Vec::with_capacity(entries.len());
        for pair in entries {
            let SpannedStr { text, place } = &pair.0;
            match known.get(text.as_str()) {
                None => {
                    known.insert(text, *place);
                    kept.push(pair);
                }
                Some(earlier) => self.report(
                    Diagnostic::at(*place, format!("two {entry} are named `{text}`"))
                        .label("the second")
                        .related(*earlier, "the first")
                        .hint("rename or remove one of them"),
                ),
            }
        }
        kept
    }

    /// Says that a key is not one of those that are known here.
    pub fn unknown_key(&mut self, key: &SpannedStr, whose: &str, known: &[&str]) {
        let hint = suggest(&key.text, "keys", known.iter().copied());
        self.report(Diagnostic::at(key.place, format!("{whose} has no key `{}`", key.text)).maybe_hint(hint));
    }

    /// Text, or a report.
    pub fn text(&mut self, node: &Node, what: &str) -> Option<SpannedStr> {
        let word = node.spanned_text().filter(|word| !word.text.is_empty());
        if word.is_none() {
            let found = if node.text().is_some() { "empty text" } else { node.kind() };
            self.report(Diagnostic::at(node.place, format!("{what} must be text, not {found}")));
        }
        word
    }

    /// A list of texts, or one text.
    pub fn text_list(&mut self, node: &Node, what: &str) -> Vec<SpannedStr> {
        match &node.content {
            Content::List(items) => {
                items.iter().filter_map(|item| self.text(item, &format!("each of {what}"))).collect()
            }
            Content::Scalar(cwm_contract::Value::Text(_)) => self.text(node, what).into_iter().collect(),
            _ => {
                self.report(Diagnostic::at(node.place, format!("{what} must be a list, not {}", node.kind())));
                Vec::new()
            }
        }
    }
}
