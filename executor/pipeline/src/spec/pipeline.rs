//! The file as a whole: `cwm`, `vars`, `stages`, `export`.

use std::collections::HashMap;

use cwm_contract::Value;

use super::stage::{COMMAND_KEYS, KEYS as STAGE_KEYS, StageSpec};
use cwm_core::{Content, Diagnostic, NAME_RULE, Node, Place, Problems, SpannedStr, escape_controls, is_name};

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
    /// The exports: a reference, and a path, which is text.
    pub exports: Vec<(SpannedStr, Node)>,
}

/// Reads a file's tree. Problems are reported, and the rest is returned, so that later steps find their problems too. None if
/// nothing can be read.
pub fn read(root: &Node, problems: &Problems) -> Option<Spec> {
    let Content::Map(entries) = &root.content else {
        let found = if root.scalar() == Some(&Value::Null) { "an empty file" } else { root.kind() };
        let problem = root.problem(format!("this is not a pipeline but {found}"));
        problems.push(problem.hint("a pipeline is a YAML map that begins with `cwm: 1` and has `stages:`"));
        return None;
    };
    let value = |name: &str| entries.iter().find(|(key, _)| key.text == name);
    if !is_version(root, value("cwm").map(|(_, version)| version), problems) {
        return None;
    }
    report_repeated_keys(root, problems);
    if let (None, Some((first, _))) = (value("stages"), entries.first()) {
        problems.push(Diagnostic::at(first.place, "this pipeline has no `stages`"));
    }
    let mut spec = Spec::default();
    for (key, value) in entries {
        match key.text.as_str() {
            "cwm" => (),
            "vars" => spec.vars = vars(value, problems),
            "stages" => spec.stages = stages(key, value, problems),
            "export" => spec.exports = exports(value, problems),
            name if name != "stage" && (STAGE_KEYS.contains(&name) || COMMAND_KEYS.contains(&name)) => problems.push(
                Diagnostic::at(key.place, format!("a pipeline has no key `{name}`"))
                    .hint(format!("it belongs to a stage: `stages: {{ NAME: {{ stage: …, {name}: … }} }}`")),
            ),
            _ => problems.unknown_key(key, "a pipeline", KEYS),
        }
    }
    Some(spec)
}

/// Checks the version. Returns false for a newer format: what else is wrong may be right there, and is not reported.
fn is_version(root: &Node, version: Option<&Node>, problems: &Problems) -> bool {
    let problem = match version.map(|node| (node, node.scalar())) {
        Some((_, Some(&Value::Int(FORMAT)))) => return true,
        Some((node, Some(Value::Int(version)))) if *version > FORMAT => {
            let message = format!("this file has format {version}, and this program reads formats up to {FORMAT}");
            problems.push(node.problem(message).hint("use a newer cwm for this file"));
            return false;
        }
        Some((node, _)) => node.problem(format!("there is no format `{}`", escape_controls(&node.value().to_string()))),
        None => root.problem("the version of the format is missing"),
    };
    problems.push(problem.hint(format!("write `cwm: {FORMAT}` at the top")));
    true
}

/// Reports each key that a map of the file has twice: one of the two would silently count.
fn report_repeated_keys(node: &Node, problems: &Problems) {
    match &node.content {
        Content::Scalar(_) => {}
        Content::List(items) => items.iter().for_each(|item| report_repeated_keys(item, problems)),
        Content::Map(entries) => {
            let mut known: HashMap<&str, Place> = HashMap::with_capacity(entries.len());
            for (SpannedStr { text, place }, item) in entries {
                if let Some(earlier) = known.insert(text, *place) {
                    problems.push(
                        Diagnostic::at(*place, format!("`{text}` is twice in one map"))
                            .label("the second")
                            .related(earlier, "the first")
                            .hint("rename or remove one of them"),
                    );
                }
                report_repeated_keys(item, problems);
            }
        }
    }
}

fn stages(key: &SpannedStr, node: &Node, problems: &Problems) -> Vec<StageSpec> {
    if node.scalar() == Some(&Value::Null) {
        problems.push(Diagnostic::at(key.place, "this pipeline has no stages"));
    }
    let stage = |(name, body): &(SpannedStr, Node)| {
        check_name(name, "a stage", problems);
        StageSpec::read(name, body, problems)
    };
    problems.map(node, "`stages`").iter().map(stage).collect()
}

fn vars(node: &Node, problems: &Problems) -> Vec<(SpannedStr, Node)> {
    let vars = problems.map(node, "`vars`");
    for (name, value) in vars {
        check_name(name, "a variable", problems);
        if let Some(unfit) = unfit_for_variable(value) {
            let wanted = "text, a number, a boolean or a list of these";
            let message = format!("variable `{}` must be {wanted}, not {unfit}", name.text);
            let hint = "an axis of a matrix can hold lists and maps: `matrix: { axis: { label: [..] } }`";
            problems.push(value.problem(message).hint(hint));
        }
    }
    vars.to_vec()
}

/// Describes a value that no variable can have. None for a scalar or a list of scalars.
pub fn unfit_for_variable(node: &Node) -> Option<String> {
    match &node.content {
        Content::Scalar(_) => None,
        Content::List(items) => {
            let item = items.iter().find(|item| item.scalar().is_none());
            item.map(|item| format!("a list with {} in it", item.kind()))
        }
        Content::Map(_) => Some(node.kind().to_owned()),
    }
}

fn exports(node: &Node, problems: &Problems) -> Vec<(SpannedStr, Node)> {
    let mut exports = problems.map(node, "`export`").to_vec();
    exports.retain(|(_, path)| problems.text(path, "the path of an export").is_some());
    exports
}

/// Reports a text that is no name.
pub fn check_name(name: &SpannedStr, what: &str, problems: &Problems) {
    if !is_name(&name.text) {
        let message = format!("`{}` cannot be the name of {what}", escape_controls(&name.text));
        problems.push(Diagnostic::at(name.place, message).hint(format!("a name is {NAME_RULE}")));
    }
}
