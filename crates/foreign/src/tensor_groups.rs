//! The way through what a pickle holds: every dictionary of tensors, and the settings beside them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::pickle::{BudgetExceeded, Handle, MAX_NAME_BYTES, MemoryBudget, Node, Nodes};
use crate::tensor::Tensor;
use crate::torch::{ReconstructedObject, reconstruct};

/// Bytes that the map of settings takes for each, beside its texts.
const SETTING: usize = 384;

/// A dictionary that holds tensors under names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TensorGroup {
    /// Its place in the file, such as `model_state_dict` or `ema.shadow`; empty for the whole file.
    pub path: String,
    /// Its tensors, in the order in which they were saved; or the problem with one, worded to follow its name.
    pub tensors: Vec<(String, Result<Tensor, String>)>,
}

/// The content of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileContents {
    /// Dictionaries of tensors, in the order in which they are met.
    pub groups: Vec<TensorGroup>,
    /// The values under each name, anywhere: texts, numbers, booleans. A name may have several values. Texts of
    /// more than 4 KiB are no settings.
    pub settings: BTreeMap<String, BTreeSet<String>>,
}

/// Looks through all that a pickle holds, each thing once, however deep, however often and in whatever circles it is held.
/// Objects made of it count towards `budget`.
///
/// # Errors
/// There is not enough of it, or a tensor's name is too long: in words that follow the file's name.
pub fn find_tensor_groups(nodes: &Nodes, budget: &mut MemoryBudget) -> Result<FileContents, String> {
    let (contents, seen, steps) = (FileContents::default(), HashSet::new(), Vec::new());
    let mut walk = Walk { nodes, budget, contents, seen, steps, waiting: Vec::new() };
    walk.waiting.push(PendingNode { handle: nodes.root(), step: None });
    while let Some(next) = walk.waiting.pop() {
        walk.visit(next)?;
    }
    Ok(walk.contents)
}

struct Walk<'a> {
    nodes: &'a Nodes,
    budget: &'a mut MemoryBudget,
    contents: FileContents,
    seen: HashSet<Handle>,
    /// Steps of all paths, of which only those to tensors are ever spelled out.
    steps: Vec<Step>,
    /// The last in is the first out.
    waiting: Vec<PendingNode>,
}

/// A thing to be looked into, and the last step of the path to it; none at the root.
struct PendingNode {
    handle: Handle,
    step: Option<u32>,
}

#[derive(Clone, Copy)]
struct Step {
    before: Option<u32>,
    to: LastStep,
}

/// The last key or index on the path to an object.
#[derive(Clone, Copy)]
enum LastStep {
    Key(Handle),
    Place(usize),
}

impl Walk<'_> {
    fn visit(&mut self, at: PendingNode) -> Result<(), String> {
        let nodes = self.nodes;
        if !self.seen.insert(at.handle) || reconstruct(nodes, at.handle) != ReconstructedObject::Other {
            return Ok(());
        }
        let first = self.waiting.len();
        self.visit_items(&at)?;
        for (place, value) in elements(nodes, at.handle) {
            self.wait(&at, value, Some(LastStep::Place(place)))?;
        }
        if let Node::Call(call) = nodes.get(at.handle) {
            // Attributes: those of an object are no step of the path.
            if let Some(state) = call.state {
                self.wait(&at, state, None)?;
            }
            self.wait(&at, call.arguments, None)?;
        }
        self.waiting[first..].reverse();
        Ok(())
    }

    fn visit_items(&mut self, at: &PendingNode) -> Result<(), String> {
        let nodes = self.nodes;
        let mut tensors = Vec::new();
        for &(key, value) in items(nodes, at.handle) {
            let Some(name) = name(nodes, key) else { continue };
            let tensor = match reconstruct(nodes, value) {
                ReconstructedObject::Tensor(tensor) => Ok(tensor),
                ReconstructedObject::Unsupported(what) => Err(what),
                ReconstructedObject::Other => {
                    match setting_text(nodes.get(value)) {
                        Some(value) => self.add_setting(&name, &value)?,
                        None => self.wait(at, value, Some(LastStep::Key(key)))?,
                    }
                    continue;
                }
            };
            if name.len() > MAX_NAME_BYTES {
                let bytes = name.len();
                return Err(format!("holds a tensor under a name of {bytes} bytes; {MAX_NAME_BYTES} are read at most"));
            }
            let footprint = tensor.as_ref().map_or_else(|what| size_of::<Tensor>() + what.len(), Tensor::footprint);
            // The name stands once as it is and once without wrappings.
            self.take(2 * (size_of::<String>() + name.len()) + footprint)?;
            tensors.push((name.into_owned(), tensor));
        }
        if !tensors.is_empty() {
            let path = self.path(at.step)?;
            self.contents.groups.push(TensorGroup { path, tensors });
        }
        Ok(())
    }

    /// Adds a setting, each value once.
    fn add_setting(&mut self, name: &str, value: &str) -> Result<(), String> {
        let is_known = || self.contents.settings.get(name).is_some_and(|all| all.contains(value));
        if name.len() > MAX_NAME_BYTES || value.len() > MAX_NAME_BYTES || is_known() {
            return Ok(());
        }
        self.take(SETTING + name.len() + value.len())?;
        self.contents.settings.entry(name.to_owned()).or_default().insert(value.to_owned());
        Ok(())
    }

    /// Has `handle`, which is inside the thing `at`, looked into later, if there is anything in it.
    fn wait(&mut self, at: &PendingNode, handle: Handle, to: Option<LastStep>) -> Result<(), String> {
        let holds =
            matches!(self.nodes.get(handle), Node::Tuple(_) | Node::List(_) | Node::Dictionary(_) | Node::Call(_));
        if !holds || self.seen.contains(&handle) {
            return Ok(());
        }
        self.take(size_of::<PendingNode>() + size_of::<Step>())?;
        let step = match to {
            None => at.step,
            Some(to) => {
                self.steps.push(Step { before: at.step, to });
                Some(self.steps.len() as u32 - 1)
            }
        };
        self.waiting.push(PendingNode { handle, step });
        Ok(())
    }

    /// The names of the steps that lead here, with points between.
    fn path(&mut self, last: Option<u32>) -> Result<String, String> {
        let (mut names, mut next) = (Vec::new(), last);
        while let Some(step) = next.map(|step| self.steps[step as usize]) {
            names.push(match step.to {
                LastStep::Key(key) => name(self.nodes, key).unwrap_or_default(),
                LastStep::Place(place) => place.to_string().into(),
            });
            next = step.before;
        }
        let bytes: usize = names.iter().map(|name| name.len() + 1).sum();
        self.take(size_of::<TensorGroup>() + bytes)?;
        let mut path = String::new();
        for name in names.iter().rev() {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(name);
        }
        Ok(path)
    }

    fn take(&mut self, bytes: usize) -> Result<(), String> {
        self.budget.take(bytes).map_err(|full: BudgetExceeded| format!("cannot be read: {full}"))
    }
}

fn items(nodes: &Nodes, handle: Handle) -> &[(Handle, Handle)] {
    match nodes.get(handle) {
        Node::Dictionary(items) => items,
        Node::Call(call) => &call.items,
        _ => &[],
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

fn name(nodes: &Nodes, key: Handle) -> Option<Cow<'_, str>> {
    match nodes.get(key) {
        Node::Text(text) => Some((&**text).into()),
        Node::Integer(number) => Some(number.to_string().into()),
        _ => None,
    }
}

fn setting_text(node: &Node) -> Option<Cow<'_, str>> {
    match node {
        Node::Text(text) => Some((&**text).into()),
        Node::Bool(truth) => Some(truth.to_string().into()),
        Node::Integer(number) => Some(number.to_string().into()),
        Node::Float(number) => Some(number.to_string().into()),
        Node::None => Some("".into()),
        _ => None,
    }
}
