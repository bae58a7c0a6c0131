//! A stage of the file.

use super::axes::{AxisSpec, axes};
use super::inputs::{FromSpec, from};
use super::pipeline::check_name;
use cwm_core::{Content, Diagnostic, Node, NodeReader, SpannedStr, is_name, visible};

/// The kind of stage that runs a shell command.
pub const COMMAND: &str = "command";

/// The keys of a stage.
pub const KEYS: &[&str] = &["stage", "from", "with", "matrix", "each", "needs", "device", "retry", "limits", "keep"];
/// The keys of a command.
pub const COMMAND_KEYS: &[&str] =
    &["stage", "from", "with", "matrix", "each", "needs", "retry", "limits", "keep", "deps", "env", "outputs"];

/// A stage of the file.
#[derive(Clone, Debug)]
pub struct StageSpec {
    /// Its name.
    pub name: SpannedStr,
    /// Its kind. None if it was missing or not text, which was reported.
    pub kind: Option<SpannedStr>,
    /// Its inputs.
    pub from: FromSpec,
    /// Parameters.
    pub with: Vec<(SpannedStr, Node)>,
    /// Axes of its own matrix.
    pub matrix: Vec<AxisSpec>,
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
    /// Files that a command rests on; paths or globs.
    pub deps: Vec<SpannedStr>,
    /// Variables of the environment that a command sees.
    pub env: Vec<SpannedStr>,
    /// Outputs of a command.
    pub outputs: Vec<OutputSpec>,
}

/// A declared output of a command.
#[derive(Clone, Debug)]
pub struct OutputSpec {
    /// Its name.
    pub name: SpannedStr,
    /// Its format, if declared.
    pub format: Option<SpannedStr>,
    /// The extension of the file, if declared.
    pub extension: Option<SpannedStr>,
    /// True if it is a folder.
    pub folder: bool,
}

impl StageSpec {
    /// Returns true if this is a command.
    pub fn is_command(&self) -> bool {
        self.kind.as_ref().is_some_and(|kind| kind.text == COMMAND)
    }

    /// Reads the stage named `name`.
    pub(super) fn read(name: &SpannedStr, body: &Node, reader: &mut NodeReader) -> Self {
        let mut stage = StageSpec {
            name: name.clone(),
            kind: None,
            from: FromSpec::Outputs(Vec::new()),
            with: Vec::new(),
            matrix: Vec::new(),
            each: None,
            needs: Vec::new(),
            device: None,
            retry: None,
            limits: None,
            keep: true,
            deps: Vec::new(),
            env: Vec::new(),
            outputs: Vec::new(),
        };
        let entries = reader.map(body, &format!("stage `{}`", name.text), "keys of a stage");
        match entries.iter().find(|(key, _)| key.text == "stage") {
            Some((_, kind)) => stage.kind = reader.text(kind, "the kind of a stage"),
            None if body.scalar().is_none_or(|value| *value == cwm_contract::Value::Null) => reader.report(
                Diagnostic::at(name.place, format!("stage `{}` does not say what it does", name.text))
                    .hint("give its kind: `stage: parse`, or `stage: command` for a command of your own"),
            ),
            None => (),
        }
        let command = stage.is_command();
        for (key, value) in entries.iter().map(|entry| (&entry.0, &entry.1)) {
            match key.text.as_str() {
                "stage" => (),
                "from" => stage.from = from(value, reader),
                "with" => stage.with = cloned(reader.map(value, "`with`", "parameters")),
                "matrix" => stage.matrix = axes(value, reader),
                "each" => stage.each = reader.text(value, "`each`"),
                "needs" => stage.needs = cloned(reader.map(value, "`needs`", "needs")),
                "device" if command => reader.report(
                    Diagnostic::at(key.place, "a command has no `device`")
                        .hint("with `needs: { gpu: 1 }` it finds its GPU in CUDA_VISIBLE_DEVICES"),
                ),
                "device" => stage.device = Some((key.clone(), value.clone())),
                "retry" => stage.retry = Some(value.clone()),
                "limits" => stage.limits = Some(value.clone()),
                "keep" => match value.scalar() {
                    Some(cwm_contract::Value::Bool(keep)) => stage.keep = *keep,
                    _ => reader.report(
                        Diagnostic::at(value.place, "`keep` must be true or false")
                            .hint("`keep: false` lets its files go when all that reads them is done"),
                    ),
                },
                "deps" if command => stage.deps = reader.text_list(value, "`deps`"),
                "env" if command => stage.env = env(value, reader),
                "outputs" if command => stage.outputs = outputs(value, reader),
                "deps" | "env" | "outputs" => reader.report(
                    Diagnostic::at(key.place, format!("`{}` belongs to `stage: command` only", key.text))
                        .hint("the files, variables and outputs of other stages are part of their code"),
                ),
                _ => reader.unknown_key(key, "a stage", if command { COMMAND_KEYS } else { KEYS }),
            }
        }
        stage
    }
}

fn cloned(entries: Vec<&(SpannedStr, Node)>) -> Vec<(SpannedStr, Node)> {
    entries.into_iter().cloned().collect()
}

fn env(node: &Node, reader: &mut NodeReader) -> Vec<SpannedStr> {
    let mut words = reader.text_list(node, "`env`");
    words.retain(|word| {
        let shown = visible(&word.text);
        let good = is_variable(&word.text);
        if !good {
            reader.report(Diagnostic::at(word.place, format!("`{shown}` cannot name a variable")));
        } else if is_given(&word.text) {
            reader.report(
                Diagnostic::at(word.place, format!("`{shown}` cannot be taken over: cwm gives it a value itself"))
                    .hint(
                        "`in`, `out`, `in_…`, `out_…`, `TMPDIR`, `CWM_CORES` and `CUDA_VISIBLE_DEVICES` are cwm's own",
                    ),
            );
        }
        good
    });
    words
}

/// Returns true if cwm itself gives the variable of this name a value for each command.
pub fn is_given(name: &str) -> bool {
    ["in", "out", "TMPDIR", "CWM_CORES", "CUDA_VISIBLE_DEVICES"].contains(&name)
        || name.starts_with("in_")
        || name.starts_with("out_")
}

/// Returns true if this can be the name of a variable of the environment.
pub fn is_variable(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn outputs(node: &Node, reader: &mut NodeReader) -> Vec<OutputSpec> {
    const KEYS: &[&str] = &["format", "ext", "folder"];
    let mut outputs = Vec::new();
    if matches!(&node.content, Content::Map(entries) if entries.is_empty()) {
        reader.report(
            Diagnostic::at(node.place, "`outputs` names none, and a stage without an output has no result")
                .hint("leave it out, and write the file `$out`; or name one: `outputs: { table: file }`"),
        );
    }
    for (name, value) in reader.map(node, "`outputs`", "outputs") {
        check_name(name, "an output", reader);
        let mut output = OutputSpec { name: name.clone(), format: None, extension: None, folder: false };
        match (&value.content, value.text()) {
            (_, Some("folder")) => output.folder = true,
            (_, Some("file")) => (),
            (Content::Map(_), _) => {
                for (key, value) in reader.map(value, "an output", "keys of an output") {
                    match key.text.as_str() {
                        "format" => {
                            output.format = reader.text(value, "the format of an output").filter(|format| {
                                let good = is_name(&format.text);
                                if !good {
                                    reader.report(Diagnostic::at(format.place, "this cannot name a format"));
                                }
                                good
                            })
                        }
                        "ext" => output.extension = extension(value, reader),
                        "folder" => match value.scalar() {
                            Some(cwm_contract::Value::Bool(folder)) => output.folder = *folder,
                            _ => reader.report(Diagnostic::at(value.place, "`folder` must be true or false")),
                        },
                        _ => reader.unknown_key(key, "an output", KEYS),
                    }
                }
            }
            _ => reader.report(
                Diagnostic::at(value.place, format!("output `{}` must be `file`, `folder` or a map", name.text))
                    .hint("for example `{ format: scores, ext: parquet }`"),
            ),
        }
        if let (true, Some(extension)) = (output.folder, &output.extension) {
            reader.report(Diagnostic::at(extension.place, "a folder has no extension"));
        }
        outputs.push(output);
    }
    outputs
}

fn extension(node: &Node, reader: &mut NodeReader) -> Option<SpannedStr> {
    let word = reader.text(node, "an extension")?;
    let good = word.text.len() <= 32
        && word.text.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    if !good {
        reader.report(
            Diagnostic::at(word.place, format!("`{}` cannot be an extension", visible(&word.text)))
                .hint("letters and digits, without a dot in front: `csv`, `pgn.zst`"),
        );
    }
    good.then_some(word)
}
