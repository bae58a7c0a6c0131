//! The file as a whole: `cwm`, `vars`, `stages`, `export`.

use cwm_contract::Value;

use super::stage::StageSpec;
use cwm_core::{Content, Diagnostic, Diagnostics, NAME_RULE, Node, NodeReader, SpannedStr, is_name, visible};

/// The version of the format that this program reads.
pub const FORMAT: i128 = 1;

/// The keys of a file.
pub const KEYS: &[&str] = &["cwm", "vars", "stages", "export"];

/// A pipeline file.
#[derive(Clone, Debug, Default)]
pub struct Spec {
    /// Variables and their values: scalars, or lists of them.
    pub vars: Vec<(SpannedStr, Node)>,
    /// Stages in the order of the file.
    pub stages: Vec<StageSpec>,
    /// The exports: a reference, and a path.
    pub exports: Vec<(SpannedStr, SpannedStr)>,
}

/// Reads a file's tree. Problems are reported, and the rest is returned, so that later steps find their problems too. None if
/// nothing can be read.
pub fn read(root: &Node, problems: &mut Diagnostics) -> Option<Spec> {
    let mut reader = NodeReader { problems };
    if root.scalar() == Some(&Value::Null) {
        reader.report(
            Diagnostic::at(root.place, "this file is empty").hint("a pipeline begins with `cwm: 1` and has `stages:`"),
        );
        return None;
    }
    if !matches!(root.content, Content::Map(_)) {
        reader.report(
            Diagnostic::at(root.place, format!("this is not a pipeline but {}", root.kind()))
                .hint("a pipeline is a YAML map that begins with `cwm: 1` and has `stages:`"),
        );
        return None;
    }
    let entries = reader.map(root, "a pipeline", "keys of a pipeline");
    version(root, entries.iter().find(|(key, _)| key.text == "cwm").map(|(_, value)| value), &mut reader)?;
    let mut spec = Spec::default();
    let mut stages = None;
    for (key, value) in entries.iter().map(|entry| (&entry.0, &entry.1)) {
        match key.text.as_str() {
            "cwm" => (),
            "vars" => spec.vars = vars(value, &mut reader),
            "stages" => stages = Some((key, value)),
            "export" => spec.exports = exports(value, &mut reader),
            _ => reader.unknown_key(key, "a pipeline", KEYS),
        }
    }
    match stages {
        None if !entries.is_empty() => {
            reader.report(Diagnostic::at(entries[0].0.place, "this pipeline has no `stages`"));
        }
        None => (),
        Some((key, value)) => {
            let all = reader.map(value, "`stages`", "stages");
            if all.is_empty() && value.scalar() == Some(&Value::Null) {
                reader.report(Diagnostic::at(key.place, "this pipeline has no stages"));
            }
            // Also stages with the name of another one, so that their other problems are reported as well.
            let written = if let Content::Map(entries) = &value.content { entries.iter().collect() } else { all };
            for (name, body) in written {
                check_name(name, "a stage", &mut reader);
                spec.stages.push(StageSpec::read(name, body, &mut reader));
            }
        }
    }
    Some(spec)
}

/// Checks the version. Of a newer format no other problem is reported, since it may be right there.
fn version(root: &Node, value: Option<&Node>, reader: &mut NodeReader) -> Option<()> {
    let say = format!("write `cwm: {FORMAT}` at the top");
    let Some(node) = value else {
        reader.report(Diagnostic::at(root.place, "the version of the format is missing").hint(say));
        return Some(());
    };
    match node.scalar() {
        Some(Value::Int(version)) if *version == FORMAT => Some(()),
        Some(Value::Int(version)) if *version > FORMAT => {
            reader.report(
                Diagnostic::at(
                    node.place,
                    format!("this file has format {version}, and this program reads formats up to {FORMAT}"),
                )
                .hint("use a newer cwm for this file"),
            );
            None
        }
        _ => {
            reader.report(Diagnostic::at(node.place, format!("there is no format {}", node.value())).hint(say));
            Some(())
        }
    }
}

fn vars(node: &Node, reader: &mut NodeReader) -> Vec<(SpannedStr, Node)> {
    let mut vars = Vec::new();
    for (name, value) in reader.map(node, "`vars`", "variables") {
        check_name(name, "a variable", reader);
        if !is_of_variable(value) {
            reader.report(
                Diagnostic::at(
                    value.place,
                    format!(
                        "variable `{}` must be text, a number, a boolean or a list of these, not {}",
                        name.text,
                        not_of_variable(value)
                    ),
                )
                .hint("an axis of a matrix can hold lists and maps: `matrix: { axis: { label: [..] } }`"),
            );
        }
        vars.push((name.clone(), value.clone()));
    }
    vars
}

/// Returns true if a variable can be this: a scalar, or a list of scalars.
pub fn is_of_variable(node: &Node) -> bool {
    match &node.content {
        Content::Scalar(_) => true,
        Content::List(items) => items.iter().all(|item| item.scalar().is_some()),
        Content::Map(_) => false,
    }
}

/// Describes the value that a variable cannot have.
pub fn not_of_variable(node: &Node) -> String {
    match &node.content {
        Content::List(items) => {
            let item = items.iter().find(|item| item.scalar().is_none());
            format!("a list with {} in it", item.map_or("nothing", |item| item.kind()))
        }
        Content::Scalar(_) | Content::Map(_) => node.kind().to_owned(),
    }
}

fn exports(node: &Node, reader: &mut NodeReader) -> Vec<(SpannedStr, SpannedStr)> {
    reader
        .map(node, "`export`", "exports")
        .into_iter()
        .filter_map(|(what, path)| Some((what.clone(), reader.text(path, "the path of an export")?)))
        .collect()
}

/// Reports a text that is no name.
pub(super) fn check_name(name: &SpannedStr, what: &str, reader: &mut NodeReader) {
    if !is_name(&name.text) {
        reader.report(
            Diagnostic::at(name.place, format!("`{}` cannot be the name of {what}", visible(&name.text)))
                .hint(format!("a name is {NAME_RULE}")),
        );
    }
}
