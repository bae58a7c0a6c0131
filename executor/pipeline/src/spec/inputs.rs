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
    /// A reference such as `split.train`, or the path of an external file.
    pub text: Node,
    /// True for a file.
    pub is_file: bool,
}

pub(super) fn from(node: &Node, problems: &Problems) -> Vec<InputSpec> {
    if !matches!(node.content, Content::Map(_)) {
        return vec![input(None, node, problems)];
    }
    let mut inputs = Vec::new();
    for (name, value) in problems.map(node, "`from`") {
        let input = input(Some(name.clone()), value, problems);
        if input.sources.is_empty() {
            let message = format!("input `{}` is given nothing", name.text);
            problems.push(value.problem(message).hint("name what it is given, or leave the input out"));
        }
        inputs.push(input);
    }
    inputs
}

fn input(name: Option<SpannedStr>, node: &Node, problems: &Problems) -> InputSpec {
    match &node.content {
        Content::List(items) => {
            InputSpec { name, sources: items.iter().map(|item| source(item, problems)).collect(), is_list: true }
        }
        _ => InputSpec { name, sources: vec![source(node, problems)], is_list: false },
    }
}

fn source(node: &Node, problems: &Problems) -> Option<SourceSpec> {
    let (text, what, is_file) = match &node.content {
        Content::Map(entries) => match &entries[..] {
            [(key, path)] if key.text == "file" => (path, "the path of a file", true),
            _ => {
                let problem = node.problem("a source is a reference to a stage, or a file");
                problems.push(problem.hint("write a file as `{ file: path }`"));
                return None;
            }
        },
        _ => (node, "a reference", false),
    };
    problems.text(text, what).map(|_| SourceSpec { text: text.clone(), is_file })
}
