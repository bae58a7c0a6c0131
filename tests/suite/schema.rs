//! `cwm util schema`: what editors and people read that a pipeline may hold, beside what the program takes.

use std::path::Path;

use cwm_contract::Value;
use serde_json::json;

use crate::context::{Context, finish};
use crate::python::python_with;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// True if every stage is compiled in.
const IS_WHOLE: bool = cfg!(all(
    feature = "download",
    feature = "play",
    feature = "parse",
    feature = "import",
    feature = "bag",
    feature = "analyse",
    feature = "comments",
    feature = "encode",
    feature = "transpositions",
    feature = "choose",
    feature = "questions",
    feature = "examples",
    feature = "keep",
    feature = "mix",
    feature = "split",
    feature = "tokenize",
    feature = "train",
    feature = "learn",
    feature = "reinforce",
    feature = "pretrained",
    feature = "select",
    feature = "evaluate",
    feature = "edit",
    feature = "autoencoder",
    feature = "alignment",
    feature = "legality",
    feature = "match",
    feature = "bins",
    feature = "compare",
    feature = "claim",
    feature = "answer",
    feature = "generate",
    feature = "grade",
    feature = "report"
));

fn committed(name: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The schema that this build prints.
fn printed() -> serde_json::Value {
    let ran = Context::new().cwm(&["util", "schema"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).expect("JSON")
}

/// With `CWM_UPDATE=1` a build with all stages writes the pages anew.
fn holds(name: &str, arguments: &[&str]) {
    let text = Context::new().cwm(arguments).stdout;
    if IS_WHOLE && std::env::var("CWM_UPDATE").is_ok_and(|value| value == "1") {
        std::fs::write(Path::new(ROOT).join(name), &text).expect("a written page");
    }
    let page = committed(name);
    if IS_WHOLE {
        let advice =
            format!("`cwm {} > {name}`, in a build with all stages, brings it up to date", arguments.join(" "));
        assert!(page == text, "{name} is not what the code declares; {advice}");
    }
}

#[test]
fn the_committed_schema_and_reference_are_what_the_code_declares() {
    holds("docs/pipeline.schema.json", &["util", "schema"]);
    holds("docs/reference.md", &["util", "schema", "--markdown"]);
    // Of a build with fewer stages: what it has is the same there.
    let committed: serde_json::Value = serde_json::from_str(&committed("docs/pipeline.schema.json")).expect("JSON");
    let printed = printed();
    assert_eq!(printed["properties"], committed["properties"]);
    for (name, definition) in printed["definitions"].as_object().expect("definitions") {
        if name != "stage" {
            assert_eq!(definition, &committed["definitions"][name], "docs/pipeline.schema.json: {name}");
        }
    }
}

#[test]
fn every_committed_pipeline_names_the_schema_for_editors() {
    let files = [
        "pipeline",
        "pipelines/chess-world-model/small",
        "pipelines/chess-world-model/paper",
        "pipelines/chess-world-model/sweep",
        "pipelines/chess-world-model/lichess",
        "pipelines/chess-world-model/paper-data",
        "pipelines/board-vs-moves/pipeline",
        "pipelines/board-vs-moves/small",
        "pipelines/board-vs-moves/paper",
        "pipelines/inside-models/pipeline",
        "pipelines/inside-models/small",
        "pipelines/inside-models/paper",
        "pipelines/questions/pipeline",
        "pipelines/questions/small",
        "pipelines/questions/paper",
        "pipelines/questions/build",
        "pipelines/reasoning/pipeline",
        "pipelines/reasoning/small",
        "pipelines/reasoning/llm",
        "pipelines/reasoning/paper",
        "examples/pytorch/pipeline",
        "tests/golden/pipeline",
    ];
    for file in files.map(|name| format!("{name}.yaml")) {
        let up = "../".repeat(file.matches('/').count());
        let first = committed(&file).lines().next().unwrap_or_default().to_owned();
        assert_eq!(first, format!("# yaml-language-server: $schema={up}docs/pipeline.schema.json"), "{file}");
    }
}

/// A pipeline as JSON; the program's own reader of YAML, for an editor's is another one.
fn as_json(text: &str) -> serde_json::Value {
    let node = cwm_pipeline::spec::parse_yaml(text, 0).unwrap_or_else(|fault| panic!("{fault:?}"));
    fn plain(value: &Value) -> serde_json::Value {
        match value {
            Value::List(items) => items.iter().map(plain).collect(),
            Value::Map(map) => map.iter().map(|(key, value)| (key.clone(), plain(value))).collect(),
            other => json!(other),
        }
    }
    plain(&node.value())
}

/// Validates these pipelines by a second implementation of JSON Schema: for each, its error or `None` if it is valid.
fn judged(schema: &serde_json::Value, pipelines: &[serde_json::Value]) -> Option<Vec<Option<String>>> {
    let python = python_with("jsonschema")?;
    let context = Context::new();
    context.write("asked.json", &json!({ "schema": schema, "pipelines": pipelines }).to_string());
    let script = Path::new(ROOT).join("tests/python/schema.py");
    let mut command = std::process::Command::new(python);
    let ran = finish(command.arg("-B").arg(script).arg(context.path("asked.json")).output().expect("Python starts"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    Some(serde_json::from_str(&ran.stdout).expect("JSON"))
}

#[test]
fn our_pipelines_are_valid_and_misspelt_ones_are_not() {
    let schema: serde_json::Value = serde_json::from_str(&committed("docs/pipeline.schema.json")).expect("JSON");
    let ours = [
        "pipeline",
        "pipelines/chess-world-model/small",
        "pipelines/chess-world-model/paper",
        "pipelines/chess-world-model/sweep",
        "pipelines/chess-world-model/lichess",
        "pipelines/chess-world-model/paper-data",
        "pipelines/board-vs-moves/pipeline",
        "pipelines/board-vs-moves/small",
        "pipelines/board-vs-moves/paper",
        "pipelines/inside-models/pipeline",
        "pipelines/inside-models/small",
        "pipelines/inside-models/paper",
        "pipelines/questions/pipeline",
        "pipelines/questions/small",
        "pipelines/questions/paper",
        "pipelines/questions/build",
        "pipelines/reasoning/pipeline",
        "pipelines/reasoning/small",
        "pipelines/reasoning/llm",
        "pipelines/reasoning/paper",
        "examples/pytorch/pipeline",
        "tests/golden/pipeline",
        "src/commands/init/pipeline",
        "src/commands/init/commands",
    ];
    let mut good: Vec<_> = ours.iter().map(|name| as_json(&committed(&format!("{name}.yaml")))).collect();
    good.push(as_json(
        "cwm: 1\nstages:\n  a: { stage: command, with: { run: x }, retry: { times: 2, wait: 10s }, limits: { time: 1h30m, memory: 8GiB } }\n",
    ));
    let stage = |stage: &str| as_json(&format!("cwm: 1\nstages:\n  a: {{ {stage} }}\n"));
    let bad = [
        as_json("cwm: 2\nstages: {}"),
        as_json("cwm: 1\nstages: {}\nextra: 1"),
        as_json("cwm: 1\nstages: { Big: { stage: command, with: { run: x } } }"),
        stage("stage: prase"),
        stage("with: { run: x }"),
        stage("stage: command, wiht: { run: x }"),
        stage("stage: command"),
        stage("stage: command, with: { run: x }, needs: { cpus: 1 }"),
        stage("stage: command, with: { run: x }, outputs: { a: { extension: x } }"),
        stage("stage: command, with: { run: x }, matrix: { a: [] }"),
        stage("stage: command, with: { run: x }, retry: -1"),
        stage("stage: command, with: { run: x }, limits: { time: 3 parsecs }"),
        stage("stage: play, with: { policy: uniform, games: many, seed: 1 }"),
        stage("stage: play, with: { polcy: uniform, games: 1, seed: 1 }"),
        stage("stage: play, with: { policy: unifrom, games: 1, seed: 1 }"),
        stage("stage: play, with: { policy: uniform, games: 1, seed: 1 }, device: cpu"),
        stage("stage: split, with: {}"),
        stage("stage: split, from: { gaems: x }"),
        stage("stage: split, from: { games: { path: x } }"),
        stage("stage: bins, from: x, with: { bin_width: 0 }"),
    ];
    let all: Vec<_> = good.iter().chain(&bad).cloned().collect();
    let Some(faults) = judged(&schema, &all) else { return };
    assert_eq!(faults.len(), all.len());
    for (index, fault) in faults.iter().enumerate() {
        match index < good.len() {
            true => assert_eq!(fault, &None, "{}", ours.get(index).unwrap_or(&"retry and limits")),
            false => assert!(fault.is_some(), "taken for valid: {}", all[index]),
        }
    }
}
