//! The parts of a file that might be a model's parameters.

use std::collections::BTreeMap;

use super::ImportHints;
use crate::names::unwrapped;
use crate::tensor::Tensor;
use crate::tensor_groups::{FileContents, TensorGroup};

/// Names shown of a file that holds no model.
const SHOWN: usize = 8;
/// Characters shown of a path.
const MAX_SHOWN_CHARS: usize = 200;

/// A dictionary of tensors, under the names that a model would give them.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate<'c> {
    /// Its place in the file; empty for the whole file.
    pub path: &'c str,
    /// Its tensors by their names without wrappings: the name in the file, and the tensor or what is odd about it.
    pub tensors: BTreeMap<String, &'c (String, Result<Tensor, String>)>,
}

impl<'c> Candidate<'c> {
    fn new(group: &'c TensorGroup) -> Result<Self, String> {
        let names: Vec<&str> = group.tensors.iter().map(|(name, _)| name.as_str()).collect();
        let plain = unwrapped(&names).map_err(|what| format!("{what}{}", in_path(&group.path)))?;
        let tensors = plain.into_iter().zip(&group.tensors).collect();
        Ok(Candidate { path: &group.path, tensors })
    }

    /// Its place, for people.
    pub fn place(&self) -> String {
        if self.path.is_empty() { "the file itself".into() } else { shown(self.path) }
    }
}

/// A path for people, of which only the end is shown if it is long.
fn shown(path: &str) -> String {
    match path.char_indices().rev().nth(MAX_SHOWN_CHARS) {
        None => format!("`{path}`"),
        Some((at, first)) => format!("`…{}`", &path[at + first.len_utf8()..]),
    }
}

/// ` (in PATH)`, for messages.
fn in_path(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!(" (in {})", shown(path)) }
}

/// All of them; only the one at `hints.key`, if that is given.
///
/// # Errors
/// There is none, in words that follow the file's name.
pub fn candidates<'c>(contents: &'c FileContents, hints: &ImportHints) -> Result<Vec<Candidate<'c>>, String> {
    if let Some(key) = &hints.key {
        let Some(group) = contents.groups.iter().find(|group| group.path == *key) else {
            let paths: Vec<_> = contents.groups.iter().take(SHOWN).map(|group| shown(&group.path)).collect();
            let more = if contents.groups.len() > SHOWN { ", …" } else { "" };
            return Err(format!("has no tensors in `{key}`, but in {}{more}", paths.join(", ")));
        };
        return Candidate::new(group).map(|candidate| vec![candidate]);
    }
    if contents.groups.is_empty() {
        return Err("holds no tensors under names: no state_dict".into());
    }
    // What has names that become one is no model's; if nothing else is one, its error is the one to report.
    let (found, faults): (Vec<_>, Vec<_>) = contents.groups.iter().map(Candidate::new).partition(Result::is_ok);
    let found: Vec<Candidate<'_>> = found.into_iter().flatten().collect();
    match faults.into_iter().find_map(Result::err) {
        Some(fault) if found.is_empty() => Err(fault),
        _ => Ok(found),
    }
}
