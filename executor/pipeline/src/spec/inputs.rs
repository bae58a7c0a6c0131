//! `from:` of a stage.

use cwm_core::{Content, Diagnostic, Node, NodeReader, SpannedStr};

/// The inputs of a stage, as written.
#[derive(Clone, Debug)]
pub enum FromSpec {
    /// Sources without the names of inputs: outputs are joined to inputs by name. Empty: it reads nothing.
    Outputs(Vec<SourceSpec>),
    /// Sources by input.
    Inputs(Vec<(SpannedStr, InputSpec)>),
}

/// The sources of one input, as written.
#[derive(Clone, Debug)]
pub struct InputSpec {
    /// One or more.
    pub sources: Vec<SourceSpec>,
    /// True if a list was written: then it is a group, whatever is in it.
    pub is_list: bool,
}

/// One source of an input.
#[derive(Clone, Debug)]
pub enum SourceSpec {
    /// A reference such as `split.train` (text).
    Reference(Node),
    /// The path of a file from outside (text).
    File(Node),
    /// Something else, which was reported.
    Unreadable,
}

pub(super) fn from(node: &Node, reader: &mut NodeReader) -> FromSpec {
    match &node.content {
        Content::Map(_) => {
            let mut inputs = Vec::new();
            for (name, value) in reader.map(node, "`from`", "inputs") {
                let (items, is_list) = match &value.content {
                    Content::List(items) => (items.iter().collect(), true),
                    _ => (vec![value], false),
                };
                if items.is_empty() {
                    reader.report(
                        Diagnostic::at(value.place, format!("input `{}` is given nothing", name.text))
                            .hint("leave the input out"),
                    );
                }
                let sources = items.into_iter().map(|item| source(item, reader)).collect();
                inputs.push((name.clone(), InputSpec { sources, is_list }));
            }
            FromSpec::Inputs(inputs)
        }
        Content::List(items) => FromSpec::Outputs(items.iter().map(|item| bare(item, reader)).collect()),
        Content::Scalar(_) => FromSpec::Outputs(vec![bare(node, reader)]),
    }
}

fn bare(node: &Node, reader: &mut NodeReader) -> SourceSpec {
    if matches!(node.content, Content::Map(_)) {
        reader.report(
            Diagnostic::at(node.place, "each item of this list must be a reference to a stage")
                .hint("name the input: `from: { input: { file: path } }`"),
        );
        return SourceSpec::Unreadable;
    }
    reference(node, reader)
}

fn reference(node: &Node, reader: &mut NodeReader) -> SourceSpec {
    reader.text(node, "a reference").map_or(SourceSpec::Unreadable, |_| SourceSpec::Reference(node.clone()))
}

fn source(node: &Node, reader: &mut NodeReader) -> SourceSpec {
    if !matches!(node.content, Content::Map(_)) {
        return reference(node, reader);
    }
    let mut source = SourceSpec::Unreadable;
    let entries = reader.map(node, "a source", "keys of a source");
    for (key, value) in &entries {
        match key.text.as_str() {
            "file" if reader.text(value, "the path of a file").is_some() => source = SourceSpec::File(value.clone()),
            "file" => (),
            _ => reader.unknown_key(key, "a source", &["file"]),
        }
    }
    if entries.is_empty() {
        reader.report(Diagnostic::at(node.place, "this source names nothing").hint("write `{ file: path }`"));
    }
    source
}
