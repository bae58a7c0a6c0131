//! A stage of the file.

use super::inputs::{InputSpec, from};
use super::pipeline::check_name;
use cwm_core::{Diagnostic, Node, Problems, SpannedStr, escape_controls};

/// The kind of stage that runs a shell command.
pub const COMMAND: &str = "command";

/// The keys of a stage.
pub const KEYS: &[&str] = &["stage", "from", "with", "matrix", "each", "needs", "device", "retry", "limits", "keep"];
/// The keys of a command.
pub const COMMAND_KEYS: &[&str] =
    &["stage", "from", "with", "matrix", "each", "needs", "retry", "limits", "keep", "deps", "env", "outputs"];

/// A stage of the file.
#[derive(Clone, Debug, Default)]
pub struct StageSpec {
    /// Its name.
    pub name: SpannedStr,
    /// Its kind. None if it was missing or not text, which was reported.
    pub kind: Option<SpannedStr>,
    /// Its inputs.
    pub from: Vec<InputSpec>,
    /// Parameters.
    pub with: Vec<(SpannedStr, Node)>,
    /// Axes of its own matrix, and their values.
    pub matrix: Vec<(SpannedStr, Node)>,
    /// The stage for each of whose cells it has one.
    pub each: Option<SpannedStr>,
    /// Declared needs.
    pub needs: Vec<(SpannedStr, Node)>,
    /// Its device, with the key.
    pub device: Option<(SpannedStr, Node)>,
    /// Its retries.
    pub retry: Option<Node>,
    /// The limits of an attempt.
    pub limits: Option<Node>,
    /// True if its files stay when all that reads them is done.
    pub keep: bool,
    /// Files that a command depends on; paths or globs.
    pub deps: Vec<SpannedStr>,
    /// Variables of the environment that a command sees.
    pub env: Vec<SpannedStr>,
    /// Outputs of a command.
    pub outputs: Option<Node>,
}

impl StageSpec {
    /// Reads the stage named `name`.
    pub(super) fn read(name: &SpannedStr, body: &Node, problems: &Problems) -> Self {
        let mut stage = StageSpec { name: name.clone(), keep: true, ..StageSpec::default() };
        let entries = problems.map(body, &format!("stage `{}`", name.text));
        match entries.iter().find(|(key, _)| key.text == "stage") {
            Some((_, kind)) => stage.kind = problems.text(kind, "the kind of a stage"),
            None if body.scalar().is_none_or(|value| *value == cwm_contract::Value::Null) => problems.push(
                Diagnostic::at(name.place, format!("stage `{}` has no kind", name.text))
                    .hint("give its kind: `stage: parse`, or `stage: command` for a command of your own"),
            ),
            None => (),
        }
        let command = stage.kind.as_ref().is_some_and(|kind| kind.text == COMMAND);
        for (key, value) in entries {
            match key.text.as_str() {
                "stage" => (),
                "from" => stage.from = from(value, problems),
                "with" => stage.with = problems.map(value, "`with`").to_vec(),
                "matrix" => {
                    stage.matrix = problems.map(value, "`matrix`").to_vec();
                    stage.matrix.iter().for_each(|(axis, _)| check_name(axis, "an axis", problems));
                }
                "each" => stage.each = problems.text(value, "`each`"),
                "needs" => stage.needs = problems.map(value, "`needs`").to_vec(),
                "device" if command => problems.push(
                    Diagnostic::at(key.place, "a command has no `device`")
                        .hint("with `needs: { gpu: 1 }` it finds its GPU in CUDA_VISIBLE_DEVICES"),
                ),
                "device" => stage.device = Some((key.clone(), value.clone())),
                "retry" => stage.retry = Some(value.clone()),
                "limits" => stage.limits = Some(value.clone()),
                "keep" => match value.scalar() {
                    Some(cwm_contract::Value::Bool(keep)) => stage.keep = *keep,
                    _ => problems.push(
                        Diagnostic::at(value.place, "`keep` must be true or false")
                            .hint("`keep: false` deletes its files once all stages that read them are done"),
                    ),
                },
                "deps" if command => stage.deps = problems.text_list(value, "`deps`"),
                "env" if command => stage.env = env(value, problems),
                "outputs" if command => stage.outputs = Some(value.clone()),
                "deps" | "env" | "outputs" => problems.push(
                    Diagnostic::at(key.place, format!("`{}` belongs to `stage: command` only", key.text))
                        .hint("the files, variables and outputs of other stages are part of their code"),
                ),
                "run" | "shell" => {
                    problems.push(Diagnostic::at(key.place, format!("a stage has no key `{}`", key.text)).hint(
                        format!("a command has it in `with`: `{{ stage: command, with: {{ {}: … }} }}`", key.text),
                    ))
                }
                "timeout" => problems
                    .push(Diagnostic::at(key.place, "a stage has no key `timeout`").hint("`limits: { time: 1h }`")),
                _ => problems.unknown_key(key, "a stage", if command { COMMAND_KEYS } else { KEYS }),
            }
        }
        stage
    }
}

fn env(node: &Node, problems: &Problems) -> Vec<SpannedStr> {
    let mut words = problems.text_list(node, "`env`");
    words.retain(|word| {
        let shown = escape_controls(&word.text);
        let good = is_variable(&word.text);
        if !good {
            problems.push(Diagnostic::at(word.place, format!("`{shown}` cannot name a variable")));
        } else if is_set_by_cwm(&word.text) {
            problems.push(
                Diagnostic::at(word.place, format!("`{shown}` cannot be passed through: cwm sets it itself")).hint(
                    "`in`, `out`, `in_…`, `out_…`, `TMPDIR`, `CWM_CORES` and `CUDA_VISIBLE_DEVICES` are cwm's own",
                ),
            );
        }
        good
    });
    words
}

/// Returns true if cwm itself gives the variable of this name a value for each command.
pub fn is_set_by_cwm(name: &str) -> bool {
    ["in", "out", "TMPDIR", "CWM_CORES", "CUDA_VISIBLE_DEVICES"].contains(&name)
        || name.starts_with("in_")
        || name.starts_with("out_")
}

/// Returns true if this can be the name of a variable of the environment.
pub fn is_variable(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
