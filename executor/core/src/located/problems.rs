//! Collects the problems of a file while its tree is read: maps, lists and text are taken out of it, or reported.

use std::cell::RefCell;

use cwm_contract::Value;

use super::node::{Content, Node, SpannedStr};
use crate::diagnostics::{Diagnostic, Diagnostics, SourceTexts};
use crate::names::suggest;

/// The problems of a file so far. All that read and plan it share one of these.
#[derive(Debug, Default)]
pub struct Problems(RefCell<Diagnostics>);

impl Problems {
    /// Returns an empty collection about these texts.
    pub fn new(sources: SourceTexts) -> Self {
        Problems(RefCell::new(Diagnostics::new(sources)))
    }

    /// Reports a problem.
    pub fn push(&self, problem: Diagnostic) {
        self.0.borrow_mut().push(problem);
    }

    /// Returns the value of a result; none if it is a problem, which is reported.
    pub fn ok<T>(&self, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|problem| self.push(problem)).ok()
    }

    /// Returns true if there is none so far.
    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Returns all of them.
    pub fn into_diagnostics(self) -> Diagnostics {
        self.0.into_inner()
    }

    /// Returns the entries of a map; `what` names it in messages (`vars`). Null is an empty map: a key with nothing after it.
    pub fn map<'n>(&self, node: &'n Node, what: &str) -> &'n [(SpannedStr, Node)] {
        match &node.content {
            Content::Map(entries) => return entries,
            Content::Scalar(Value::Null) => {}
            _ => self.push(node.problem(format!("{what} must be a map, not {}", node.kind()))),
        }
        &[]
    }

    /// Reports a key that is not one of those that are known here.
    pub fn unknown_key(&self, key: &SpannedStr, whose: &str, known: &[&str]) {
        let hint = suggest(&key.text, "keys", known.iter().copied());
        self.push(Diagnostic::at(key.place, format!("{whose} has no key `{}`", key.text)).maybe_hint(hint));
    }

    /// Returns the text of a node. Anything but text that is not empty is reported.
    pub fn text(&self, node: &Node, what: &str) -> Option<SpannedStr> {
        let word = node.spanned_text().filter(|word| !word.text.is_empty());
        if word.is_none() {
            let found = if node.text().is_some() { "empty text" } else { node.kind() };
            self.push(node.problem(format!("{what} must be text, not {found}")));
        }
        word
    }

    /// Returns the texts of a list, or one text.
    pub fn text_list(&self, node: &Node, what: &str) -> Vec<SpannedStr> {
        match &node.content {
            Content::List(items) => {
                items.iter().filter_map(|item| self.text(item, &format!("each of {what}"))).collect()
            }
            Content::Scalar(Value::Text(_)) => self.text(node, what).into_iter().collect(),
            _ => {
                self.push(node.problem(format!("{what} must be a list, not {}", node.kind())));
                Vec::new()
            }
        }
    }
}
