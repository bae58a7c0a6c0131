//! Plans the body and the outputs of a `command`.

use std::collections::{BTreeMap, BTreeSet};

use cwm_contract::{Format, Shape, Value, Values};

use super::{CommandPlan, OutputPlan};
use crate::spec::{StageSpec, check_name, is_set_by_cwm, is_variable};
use cwm_core::{Content, Diagnostic, Node, Problems, SpannedStr, escape_controls, is_name};

/// The parameter that holds the command.
pub const RUN: &str = "run";

/// The parameter that chooses the shell.
const SHELL: &str = "shell";

/// The shells with a name, each with the arguments before the command. The first is the default.
const SHELLS: [(&str, &[&str]); 2] = [("bash", &["bash", "-euo", "pipefail", "-c"]), ("sh", &["sh", "-eu", "-c"])];

/// Reads the shell of a command: a name, or a program with its arguments. Without one it is `bash`.
fn shell(node: Option<&Node>) -> Result<Vec<String>, Diagnostic> {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let Some(node) = node else { return Ok(owned(SHELLS[0].1)) };
    let words: Option<Vec<String>> = match &node.content {
        Content::List(items) => items.iter().map(|item| item.text().map(str::to_owned)).collect(),
        _ => SHELLS.iter().find(|(name, _)| node.text() == Some(name)).map(|(_, words)| owned(words)),
    };
    words.filter(|words| words.first().is_some_and(|program| !program.is_empty())).ok_or_else(|| {
        let found = escape_controls(&node.value().to_string());
        Diagnostic::at(node.place, format!("`shell` must be `bash`, `sh` or a list of text, not `{found}`"))
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
    problems.map(declared, "`outputs`").iter().map(output).collect()
}

/// Reads an output that is declared by a map.
fn declare(output: &mut OutputPlan, node: &Node, problems: &Problems) {
    let (mut extension, mut is_folder) = (None, false);
    for (key, value) in problems.map(node, "an output") {
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
        // The contract has extensions that are part of the program: this one lives as long.
        output.shape = Shape::File(text.leak());
    } else {
        problems.push(
            Diagnostic::at(place, format!("`{}` cannot be an extension", escape_controls(&text)))
                .hint("letters and digits, without a dot in front: `csv`, `pgn.zst`"),
        );
    }
}

/// Returns the command of one cell and its parameters; `with` has its names substituted, `run` excepted. `None` if it has no
/// text or no shell. What is wrong is reported.
pub fn command(
    stage: &StageSpec,
    with: &[(SpannedStr, Node)],
    deps: &[String],
    problems: &Problems,
) -> Option<(CommandPlan, Values)> {
    let find = |name: &str| with.iter().find(|(key, _)| key.text == name).map(|(_, node)| node);
    let words = problems.ok(shell(find(SHELL)));
    let mut environment = BTreeMap::new();
    for (key, node) in with.iter().filter(|(key, _)| ![RUN, SHELL].contains(&&key.text[..])) {
        let taken = is_set_by_cwm(&key.text) || ["PATH", "HOME"].contains(&key.text.as_str());
        if let Some(word) = stage.env.iter().find(|word| word.text == key.text && !taken) {
            problems.push(
                Diagnostic::at(key.place, format!("variable `{}` has two values", escape_controls(&key.text)))
                    .related(word.place, "the other is that of cwm's own environment")
                    .hint("name it in `with` or in `env`"),
            );
        }
        if taken || !is_variable(&key.text) {
            let why = if taken { "cwm gives it a value itself" } else { "a name has letters, digits and `_` only" };
            let hint = "each key of `with` but `run` and `shell` is a variable of the command's environment";
            let message = format!("`{}` cannot name a variable here", escape_controls(&key.text));
            problems.push(Diagnostic::at(key.place, message).hint(format!("{hint}; {why}")));
        }
        match node.scalar() {
            Some(value) if *value != Value::Null && !value.to_string().contains('\0') => {
                environment.insert(key.text.clone(), value.clone());
            }
            _ => problems.push(
                Diagnostic::at(node.place, format!("variable `{}` cannot be {}", key.text, node.kind())).hint(
                    "the environment holds text without null characters: write it as text that the command reads",
                ),
            ),
        }
    }
    let Some(run) = find(RUN) else {
        problems.push(
            Diagnostic::at(stage.name.place, format!("command `{}` has no `run`", stage.name.text))
                .hint("for example `with: { run: 'sort \"$in\" > \"$out\"' }`"),
        );
        return None;
    };
    let Some(text) = run.text().filter(|text| !text.trim().is_empty()) else {
        problems
            .push(run.problem("`run` must be the text of a shell command").hint("several lines are a block: `run: |`"));
        return None;
    };
    let (run, words) = (text.to_owned(), words?);
    let mut values: Values = environment.clone();
    values.insert(RUN.into(), Value::Text(run.clone()));
    values.insert(SHELL.into(), Value::List(words.iter().cloned().map(Value::Text).collect()));
    let env: BTreeSet<_> = stage.env.iter().map(|word| word.text.clone()).collect();
    let plan = CommandPlan { shell: words, run, environment, deps: deps.to_vec(), env: env.into_iter().collect() };
    Some((plan, values))
}
