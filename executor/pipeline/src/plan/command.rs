//! Plans the body and the outputs of a `command`.

use std::collections::{BTreeMap, BTreeSet};

use cwm_contract::{Format, Shape, Value, Values};

use super::{CommandPlan, OutputPlan};
use crate::spec::{StageSpec, check_name, is_given, is_variable};
use cwm_core::{Content, Diagnostic, Node, Problems, SpannedStr, is_name, nearest, visible};

/// The parameter that holds the command.
pub const RUN: &str = "run";

/// The parameter that chooses the shell.
const SHELL: &str = "shell";

/// The shells with a name, each with the arguments before the command. The first is the default.
const SHELLS: [(&str, &[&str]); 2] = [("bash", &["bash", "-euo", "pipefail", "-c"]), ("sh", &["sh", "-eu", "-c"])];

/// Reads the shell of a command: a name, or a program with its arguments.
fn shell(node: &Node) -> Result<Vec<String>, Diagnostic> {
    let named = |name: &str| SHELLS.iter().find(|(known, _)| *known == name);
    let (words, found): (Option<Vec<String>>, String) = match (&node.content, node.text()) {
        (_, Some(name)) => {
            let words = named(name).map(|(_, words)| words.iter().map(|word| (*word).to_owned()).collect());
            (words, format!(", not `{}`", visible(name)))
        }
        (Content::List(items), _) => (items.iter().map(|item| item.text().map(str::to_owned)).collect(), String::new()),
        _ => (None, format!(", not {}", node.kind())),
    };
    words.filter(|words| words.first().is_some_and(|program| !program.is_empty())).ok_or_else(|| {
        Diagnostic::at(node.place, format!("`shell` must be `bash`, `sh` or a list of text{found}"))
            .hint("a list is a program and its arguments, after which the command is put: `shell: [python3, -c]`")
    })
}

/// Returns the outputs that a command declares; without any, the file `out`.
pub fn outputs(declared: Option<&Node>, problems: &Problems) -> Vec<OutputPlan> {
    let Some(declared) = declared else {
        return vec![OutputPlan { name: "out".into(), format: Format::ANY, shape: Shape::File("") }];
    };
    if matches!(&declared.content, Content::Map(entries) if entries.is_empty()) {
        problems.push(
            declared
                .problem("`outputs` names none, and a stage without an output has no result")
                .hint("leave it out, and write the file `$out`; or name one: `outputs: { table: file }`"),
        );
    }
    let output = |(name, node): &(SpannedStr, Node)| {
        check_name(name, "an output", problems);
        let mut output = OutputPlan { name: name.text.clone(), format: Format::ANY, shape: Shape::File("") };
        match (&node.content, node.text()) {
            (_, Some("folder")) => output.shape = Shape::Folder,
            (_, Some("file")) => (),
            (Content::Map(_), _) => declare(&mut output, node, problems),
            _ => problems.push(
                node.problem(format!("output `{}` must be `file`, `folder` or a map", name.text))
                    .hint("for example `{ format: scores, ext: parquet }`"),
            ),
        }
        output
    };
    problems.map(declared, "`outputs`", "outputs").into_iter().map(output).collect()
}

/// Reads an output that is declared by a map.
fn declare(output: &mut OutputPlan, node: &Node, problems: &Problems) {
    let (mut extension, mut is_folder) = (None, false);
    for (key, value) in problems.map(node, "an output", "keys of an output") {
        match (key.text.as_str(), value.scalar()) {
            ("format", _) => match problems.text(value, "the format of an output") {
                Some(format) if is_name(&format.text) => output.format = Format::from_name(format.text),
                Some(_) => problems.push(value.problem("this cannot name a format")),
                None => {}
            },
            ("ext", _) => extension = problems.text(value, "an extension"),
            ("folder", Some(Value::Bool(folder))) => is_folder = *folder,
            ("folder", _) => problems.push(value.problem("`folder` must be true or false")),
            _ => problems.unknown_key(key, "an output", &["format", "ext", "folder"]),
        }
    }
    if is_folder {
        output.shape = Shape::Folder;
    }
    let Some(SpannedStr { text, place }) = extension else { return };
    let is_word = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_folder {
        problems.push(Diagnostic::at(place, "a folder has no extension"));
    } else if text.len() <= 32 && text.split('.').all(is_word) {
        // The contract knows extensions that are part of the program: this one lives as long.
        output.shape = Shape::File(text.leak());
    } else {
        problems.push(
            Diagnostic::at(place, format!("`{}` cannot be an extension", visible(&text)))
                .hint("letters and digits, without a dot in front: `csv`, `pgn.zst`"),
        );
    }
}

/// Returns the command of one cell and its parameters; `with` has its names substituted, `run` excepted. `None` if something is
/// wrong, which is reported.
pub fn command(
    stage: &StageSpec,
    with: &[(SpannedStr, Node)],
    deps: &[String],
    problems: &Problems,
) -> Option<(CommandPlan, Values)> {
    let mut run = None;
    let mut words: Vec<String> = SHELLS[0].1.iter().map(|word| (*word).to_owned()).collect();
    let mut environment = BTreeMap::new();
    let mut right = true;
    let mut report = |problem: Diagnostic| {
        right = false;
        problems.push(problem);
    };
    for (key, node) in with {
        if key.text == RUN {
            match node.text().filter(|text| !text.trim().is_empty()) {
                Some(text) => run = Some(text.to_owned()),
                None => {
                    let kind = if node.text().is_some() { "empty text" } else { node.kind() };
                    report(
                        Diagnostic::at(node.place, format!("`run` must be a shell command, not {kind}"))
                            .hint("several lines are written as a block: `run: |`"),
                    );
                }
            }
            continue;
        }
        if key.text == SHELL {
            match shell(node) {
                Ok(chosen) => words = chosen,
                Err(problem) => report(problem),
            }
            continue;
        }
        let taken = is_given(&key.text) || ["PATH", "HOME"].contains(&key.text.as_str());
        if let Some(word) = stage.env.iter().find(|word| word.text == key.text && !taken) {
            report(
                Diagnostic::at(key.place, format!("variable `{}` has two values", visible(&key.text)))
                    .related(word.place, "the other is that of cwm's own environment")
                    .hint("name it in `with` or in `env`"),
            );
        }
        if taken || !is_variable(&key.text) {
            let why = if taken { "cwm gives it a value itself" } else { "a name has letters, digits and `_` only" };
            report(Diagnostic::at(key.place, format!("`{}` cannot name a variable here", visible(&key.text))).hint(
                format!("each key of `with` but `run` and `shell` is a variable of the command's environment; {why}"),
            ));
        }
        match node.scalar() {
            Some(Value::Null) => report(Diagnostic::at(node.place, format!("variable `{}` has no value", key.text))),
            Some(Value::Text(text)) if text.contains('\0') => {
                report(Diagnostic::at(node.place, format!("variable `{}` cannot hold a null character", key.text)));
            }
            Some(value) => {
                environment.insert(key.text.clone(), value.clone());
            }
            None => report(
                Diagnostic::at(node.place, format!("variable `{}` cannot be {}", key.text, node.kind()))
                    .hint("the environment holds text: write it as text that the command reads"),
            ),
        }
    }
    if run.is_none() && !with.iter().any(|(key, _)| key.text == RUN) {
        let meant = with.iter().find(|(key, _)| nearest(&key.text, [RUN]).is_some());
        let hint = match meant {
            Some((key, _)) => format!("did you mean `run` by `{}`?", visible(&key.text)),
            None => "for example `with: { run: 'sort \"$in\" > \"$out\"' }`".to_owned(),
        };
        let place = meant.map_or(stage.name.place, |(key, _)| key.place);
        report(Diagnostic::at(place, format!("command `{}` has no `run`", stage.name.text)).hint(hint));
    }
    let run = run.filter(|_| right)?;
    let mut values: Values = environment.clone();
    values.insert(RUN.into(), Value::Text(run.clone()));
    values.insert(SHELL.into(), Value::List(words.iter().cloned().map(Value::Text).collect()));
    let env: BTreeSet<_> = stage.env.iter().map(|word| word.text.clone()).collect();
    let plan = CommandPlan { shell: words, run, environment, deps: deps.to_vec(), env: env.into_iter().collect() };
    Some((plan, values))
}
