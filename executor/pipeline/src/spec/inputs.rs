//! `from:` of a stage.

use cwm_core::{Content, Node, Problems, SpannedStr};

/// The sources of one input, or of all inputs by the names of outputs.
#[derive(Clone, Debug)]
pub struct InputSpec {
    /// The name of the input. Without one, outputs are joined to inputs by name.
    pub name: Option<SpannedStr>,
    /// The sources. A source is none if it cannot be read, which was reported.
    pub sources: Vec<Option<SourceSpec>>,
    /// True if they are a list: then the input is a group, whatever is in it.
    pub is_list: bool,
}

/// One source of an input.
#[derive(Clone, Debug)]
pub struct SourceSpec {
    /// A reference such as `split.train`, or the path of a file from outside.
    pub text: Node,
    /// True for a file.
    pub is_file: bool,
}

pub(super) fn from(node: &Node, problems: &Problems) -> Vec<InputSpec> {
    if !matches!(node.content, Content::Map(_)) {
        return vec![input(None, node, |item| bare(item, problems))];
    }
    let mut inputs = Vec::new();
    for (name, value) in problems.map(node, "`from`", "inputs") {
        let input = input(Some(name.clone()), value, |item| source(item, problems));
        if input.sources.is_empty() {
            let message = format!("input `{}` is given nothing", name.text);
            problems.push(value.problem(message).hint("name what it is given, or leave the input out"));
        }
        inputs.push(input);
    }
    inputs
}

fn input(name: Option<SpannedStr>, node: &Node, source: impl Fn(&Node) -> Option<SourceSpec>) -> InputSpec {
    match &node.content {
        Content::List(items) => InputSpec { name, sources: items.iter().map(source).collect(), is_list: true },
        _ => InputSpec { name, sources: vec![source(node)], is_list: false },
    }
}

/// Reads a source that is given without the name of an input.
fn bare(node: &Node, problems: &Problems) -> Option<SourceSpec> {
    if matches!(node.content, Content::Map(_)) {
        let message = "each item of this list must be a reference to a stage";
        problems.push(node.problem(message).hint("name the input: `from: { input: { file: path } }`"));
        return None;
    }
    source(node, problems)
}

fn source(node: &Node, problems: &Problems) -> Option<SourceSpec> {
    if !matches!(node.content, Content::Map(_)) {
        return problems.text(node, "a reference").map(|_| SourceSpec { text: node.clone(), is_file: false });
    }
    let mut source = None;
    let entries = problems.map(node, "a source", "keys of a source");
    for (key, value) in &entries {
        match key.text.as_str() {
            "file" => {
                let path = problems.text(value, "the path of a file");
                source = path.map(|_| SourceSpec { text: value.clone(), is_file: true });
            }
            _ => problems.unknown_key(key, "a source", &["file"]),
        }
    }
    if entries.is_empty() {
        problems.push(node.problem("this source names nothing").hint("write `{ file: path }`"));
    }
    source
}
