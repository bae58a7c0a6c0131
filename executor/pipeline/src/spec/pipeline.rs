//! The file as a whole: `cwm`, `vars`, `stages`, `export`.

use cwm_contract::Value;

use super::stage::{COMMAND_KEYS, KEYS as STAGE_KEYS, StageSpec};
use cwm_core::{Content, Diagnostic, NAME_RULE, Node, Problems, SpannedStr, is_name, visible};

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
    if root.scalar() == Some(&Value::Null) {
        problems.push(root.problem("this file is empty").hint("a pipeline begins with `cwm: 1` and has `stages:`"));
        return None;
    }
    if !matches!(root.content, Content::Map(_)) {
        let message = format!("this is not a pipeline but {}", root.kind());
        problems
            .push(root.problem(message).hint("a pipeline is a YAML map that begins with `cwm: 1` and has `stages:`"));
        return None;
    }
    let entries = problems.map(root, "a pipeline", "keys of a pipeline");
    let value = |name: &str| entries.iter().find(|(key, _)| key.text == name);
    if !is_version(root, value("cwm").map(|(_, version)| version), problems) {
        return None;
    }
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
        Some((node, Some(Value::Int(version)))) => node.problem(format!("there is no format {version}")),
        Some((node, _)) => node.problem(format!("the version of the format must be an integer, not {}", node.kind())),
        None => root.problem("the version of the format is missing"),
    };
    problems.push(problem.hint(format!("write `cwm: {FORMAT}` at the top")));
    true
}

fn stages(key: &SpannedStr, node: &Node, problems: &Problems) -> Vec<StageSpec> {
    let once = problems.map(node, "`stages`", "stages");
    if node.scalar() == Some(&Value::Null) {
        problems.push(Diagnostic::at(key.place, "this pipeline has no stages"));
    }
    // Also stages with the name of another one, so that their other problems are reported as well.
    let stages = if let Content::Map(entries) = &node.content { entries.iter().collect() } else { once };
    let stage = |(name, body): &(SpannedStr, Node)| {
        check_name(name, "a stage", problems);
        StageSpec::read(name, body, problems)
    };
    stages.into_iter().map(stage).collect()
}

fn vars(node: &Node, problems: &Problems) -> Vec<(SpannedStr, Node)> {
    let mut vars = Vec::new();
    for (name, value) in problems.map(node, "`vars`", "variables") {
        check_name(name, "a variable", problems);
        if let Some(unfit) = unfit_for_variable(value) {
            let wanted = "text, a number, a boolean or a list of these";
            let message = format!("variable `{}` must be {wanted}, not {unfit}", name.text);
            let hint = "an axis of a matrix can hold lists and maps: `matrix: { axis: { label: [..] } }`";
            problems.push(value.problem(message).hint(hint));
        }
        vars.push((name.clone(), value.clone()));
    }
    vars
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
    let mut exports = problems.map(node, "`export`", "exports");
    exports.retain(|(_, path)| problems.text(path, "the path of an export").is_some());
    exports.into_iter().cloned().collect()
}

/// Reports a text that is no name.
pub fn check_name(name: &SpannedStr, what: &str, problems: &Problems) {
    if !is_name(&name.text) {
        let message = format!("`{}` cannot be the name of {what}", visible(&name.text));
        problems.push(Diagnostic::at(name.place, message).hint(format!("a name is {NAME_RULE}")));
    }
}
