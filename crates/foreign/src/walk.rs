//! The way through what a pickle holds: every dictionary of tensors, and the settings beside them.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::pickle::{Handle, Node, Nodes};
use crate::tensor::Tensor;
use crate::torch::{Meaning, meaning};

/// Things inside each other that are looked into; no state_dict lies deeper.
const DEEPEST: usize = 32;

/// A dictionary that holds tensors under names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Its place in the file, such as `model_state_dict` or `ema.shadow`; empty for the whole file.
    pub path: String,
    /// Its tensors, in the order in which they were saved; or what is odd about one, in words that follow its name.
    pub tensors: Vec<(String, Result<Tensor, String>)>,
}

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// Dictionaries of tensors, in the order in which they are met.
    pub groups: Vec<Group>,
    /// What is said under each name, anywhere: texts, numbers, truths. A name may be said to be several things.
    pub settings: BTreeMap<String, BTreeSet<String>>,
}

/// Looks through all that a pickle holds, each thing once, however often and in whatever circles it is held.
pub fn look(nodes: &Nodes) -> Contents {
    let mut contents = Contents::default();
    let mut seen = HashSet::new();
    let mut waiting = vec![(nodes.root(), String::new(), 0)];
    while let Some((handle, path, depth)) = waiting.pop() {
        if depth > DEEPEST || !seen.insert(handle) || meaning(nodes, handle) != Meaning::Other {
            continue;
        }
        let mut inside = Vec::new();
        if let Some(items) = items(nodes, handle) {
            let mut group = Group { path: path.clone(), tensors: Vec::new() };
            for &(key, value) in items {
                let Some(name) = name(nodes, key) else { continue };
                match meaning(nodes, value) {
                    Meaning::Tensor(tensor) => group.tensors.push((name, Ok(tensor))),
                    Meaning::Odd(what) => group.tensors.push((name, Err(what))),
                    Meaning::Other => match said(nodes.get(value)) {
                        Some(said) => _ = contents.settings.entry(name).or_default().insert(said),
                        None => inside.push((value, joined(&path, &name))),
                    },
                }
            }
            if !group.tensors.is_empty() {
                contents.groups.push(group);
            }
        }
        inside.extend(elements(nodes, handle).map(|(place, value)| (value, joined(&path, &place.to_string()))));
        if let Node::Call(call) = nodes.get(handle) {
            // Attributes: those of an object are no step of the path.
            inside.extend(call.state.map(|state| (state, path.clone())));
            inside.push((call.arguments, path));
        }
        // The last in is the first out.
        waiting.extend(inside.into_iter().rev().map(|(value, path)| (value, path, depth + 1)));
    }
    contents
}

fn items(nodes: &Nodes, handle: Handle) -> Option<&[(Handle, Handle)]> {
    match nodes.get(handle) {
        Node::Dictionary(items) => Some(items),
        Node::Call(call) => Some(&call.items),
        _ => None,
    }
}

fn elements(nodes: &Nodes, handle: Handle) -> impl Iterator<Item = (usize, Handle)> + '_ {
    let elements: &[Handle] = match nodes.get(handle) {
        Node::Tuple(elements) | Node::List(elements) => elements,
        Node::Call(call) => &call.elements,
        _ => &[],
    };
    elements.iter().copied().enumerate()
}

fn name(nodes: &Nodes, key: Handle) -> Option<String> {
    match nodes.get(key) {
        Node::Text(text) => Some(text.to_string()),
        Node::Integer(number) => Some(number.to_string()),
        _ => None,
    }
}

fn said(node: &Node) -> Option<String> {
    match node {
        Node::Text(text) => Some(text.to_string()),
        Node::Truth(truth) => Some(truth.to_string()),
        Node::Integer(number) => Some(number.to_string()),
        Node::Float(number) => Some(number.to_string()),
        Node::Nothing => Some(String::new()),
        _ => None,
    }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
