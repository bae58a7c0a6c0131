//! The reference for people: every key, every kind of stage with its inputs, outputs and parameters.

use cwm_contract::{Count, Format, Input, Output, ParameterSpec, Shape, Stage, Value};

use super::keys::{KEYS, YamlKey};
use super::stage::one_line;
use cwm_core::Registry;

const HEAD: &str = "# Reference

Every key of a pipeline file and every kind of stage, as this program declares them. `cwm util schema --markdown` writes this page,
`cwm util schema` the same for editors ([pipeline.schema.json](pipeline.schema.json)). What the keys mean exactly is in
[pipeline-file](design/pipeline-file.md), the formats of inputs and outputs are in [formats](formats.md).
";

/// Returns the page of all stages, in Markdown.
pub fn markdown(registry: &Registry) -> String {
    let mut page = HEAD.to_owned();
    page += "\n## Keys of the file\n\n| key | holds |\n|---|---|\n";
    KEYS.file.iter().for_each(|key| page += &format!("| `{}` | {} |\n", key.name, cell(&key.description)));
    page += "\n## Keys of a stage\n\n| key | holds |\n|---|---|\n";
    page += "| `stage` | Its kind: one of those below. |\n";
    page += "| `from` | Its inputs: a reference (`corpus`, `tokens.train`, `model[size=d32/l1]`) or a list of them; or a map from input to \
             reference, path with a `/` (`./games.pgn`), `{ file: path }`, or a list of these. |\n";
    page += "| `with` | Its parameters, below. |\n";
    let groups: [(&[YamlKey], &str); 3] = [
        (&KEYS.stage, ""),
        (&KEYS.device, "Of stages that compute with models. "),
        (&KEYS.command, "Of a `command`. "),
    ];
    for (keys, whose) in groups {
        keys.iter().for_each(|key| page += &format!("| `{}` | {whose}{} |\n", key.name, cell(&key.description)));
    }
    page += "\n## Stages\n\n| kind | what it does |\n|---|---|\n";
    for stage in registry.iter() {
        page += &format!("| [`{0}`](#{0}) | {1} |\n", stage.kind(), cell(stage.description()));
    }
    let command_description = &KEYS.command_description;
    page += &format!("| [`command`](#command) | {} |\n", cell(command_description));
    registry.iter().for_each(|stage| page += &of_kind(stage));
    page += &format!(
        "\n## command\n\n{command_description}\n\n**Parameters**\n\n| name | type | default | meaning |\n|---|---|---|---|\n"
    );
    let with = &KEYS.command_properties["with"];
    let about = |schema: &serde_json::Value| cell(schema["description"].as_str().unwrap_or_default());
    page += &format!("| `run` | text | must be given | {} |\n", about(&with["properties"]["run"]));
    page +=
        &format!("| `shell` | `bash`, `sh`, or a list of text | `bash` | {} |\n", about(&with["properties"]["shell"]));
    page += &format!("| any other | text, number, `true` or `false` | | {} |\n", about(&with["additionalProperties"]));
    page
}

fn of_kind(stage: &dyn Stage) -> String {
    let mut text = format!("\n## {}\n\n{}\n", stage.kind(), stage.description());
    let inputs = stage.inputs();
    if !inputs.is_empty() {
        text += "\n**Inputs**\n\n| name | format | how many | |\n|---|---|---|---|\n";
        inputs.iter().for_each(|one| text += &input(one));
    }
    text += "\n**Outputs**\n\n| name | format | | |\n|---|---|---|---|\n";
    stage.outputs().iter().for_each(|one| text += &output(one));
    let parameters = stage.parameters();
    if !parameters.is_empty() {
        text += "\n**Parameters**\n\n| name | type | default | meaning |\n|---|---|---|---|\n";
        parameters.iter().for_each(|one| text += &parameter(one));
    }
    text
}

fn input(input: &Input) -> String {
    let count = match input.count {
        Count::One => "one",
        Count::Optional => "one or none",
        Count::Many => "a group, at least one",
        Count::List => "a list in order, at least one",
        Count::OptionalMany => "a group, or none",
    };
    format!("| `{}` | {} | {count} | {} |\n", input.name, format(&input.format), cell(input.doc))
}

fn output(output: &Output) -> String {
    let shape = match output.shape {
        Shape::File(extension) => format!("file (.{extension})"),
        Shape::Folder => "folder".into(),
        Shape::FileOrFolder(extension) => format!("file (.{extension}) or folder"),
    };
    let when = output.when.map_or(String::new(), |input| format!(" Only where `{input}` is given."));
    format!("| `{}` | {} | {shape} | {}{when} |\n", output.name, format(&output.format), cell(output.doc))
}

/// A format with a link to its description; the format that fits every edge has none.
fn format(format: &Format) -> String {
    match *format == Format::ANY {
        true => "any".into(),
        false => format!("[{format}](formats.md#{format})"),
    }
}

fn parameter(parameter: &ParameterSpec) -> String {
    let default = match &parameter.default {
        None => "must be given".into(),
        Some(Value::Null) => String::new(),
        Some(Value::Text(text)) if text.is_empty() => "empty".into(),
        Some(value) => format!("`{value}`"),
    };
    let (kind, about) = (cell(&parameter.kind.describe()), cell(&parameter.doc));
    format!("| `{}` | {kind} | {default} | {about} |\n", parameter.name)
}

/// Text in one cell of a table.
fn cell(text: &str) -> String {
    one_line(text).replace('|', "\\|")
}
