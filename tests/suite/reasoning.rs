//! The pipelines of reasoning: what they would run; the miniature, made smaller, checked by python-chess; training with another
//! program, against one that trains nothing.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::answers::server_with;
use crate::context::{Context, Run, finish, shared};
use crate::python::{python, python_with, run};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A folder with this pipeline as `pipelines/reasoning/pipeline.yaml`, and the programs that pipelines name.
fn context(name: &str) -> Context {
    let context = Context::new();
    let root = Path::new(ROOT);
    let yaml = std::fs::read_to_string(root.join("pipelines/reasoning").join(name)).expect("the pipeline");
    context.write("pipelines/reasoning/pipeline.yaml", &yaml);
    let files = std::fs::read_dir(root.join("examples/reasoning")).expect("the examples");
    for path in files.map(|file| file.expect("a file").path()).filter(|path| path.is_file()) {
        let text = std::fs::read_to_string(&path).expect("text");
        context.write(&format!("examples/reasoning/{}", path.file_name().expect("a name").display()), &text);
    }
    context
}

const PIPELINE: &str = "pipelines/reasoning/pipeline.yaml";

/// Cells of each stage in the pipeline of this name.
fn cells(name: &str, sets: &[&str], stages: &[&str]) -> Vec<usize> {
    let context = context(name);
    context.write("pipelines/reasoning/magpie.jsonl", "");
    context.write("engine", "not started here");
    std::fs::set_permissions(context.path("engine"), std::fs::Permissions::from_mode(0o755))
        .expect("an executable file");
    let ran = context.cwm(&[&["status", "-f", PIPELINE, "--json"], sets].concat());
    assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
    let cells: Vec<Value> = serde_json::from_str(&ran.stdout).expect("JSON");
    let labels: Vec<&str> = cells.iter().filter_map(|cell| cell["label"].as_str()).collect();
    let of = |stage: &&str| labels.iter().filter(|label| label.split('[').next() == Some(*stage)).count();
    stages.iter().map(of).collect()
}

#[test]
fn the_four_pipelines_plan() {
    let stages = ["built", "mixed", "tuned", "trained", "before", "after", "scripted", "grades", "report"];
    assert_eq!(cells("pipeline.yaml", &[], &stages), [3, 4, 5, 5, 5, 5, 3, 1, 1]);
    let engine = ["--set", "engine=./engine"];
    assert_eq!(cells("small.yaml", &engine, &stages), [3, 4, 4, 4, 4, 4, 3, 1, 1]);
    assert_eq!(cells("llm.yaml", &engine, &stages), [3, 3, 3, 3, 3, 3, 3, 1, 1]);
    let stages = ["kept", "guided", "mixed", "tuned", "trained", "both", "baselines", "report"];
    assert_eq!(cells("paper.yaml", &engine, &stages), [2, 3, 11, 11, 11, 2, 2, 1]);
}

/// The miniature on few positions.
const SMALL: [&str; 10] = [
    "practice=1200",
    "arena=400",
    "exam=300",
    "lessons=130",
    "trials=16",
    "held_out=20",
    "searches=40",
    "tokens=1500",
    "epochs=1",
    "seed=1",
];

fn sets(sets: &[&'static str]) -> Vec<&'static str> {
    sets.iter().flat_map(|set| ["--set", set]).collect()
}

/// The path of an output in the store.
fn output(context: &Context, reference: &str, sets: &[&str]) -> PathBuf {
    let ran = context.cwm(&[&["show", "-f", PIPELINE, "--path", reference], sets].concat());
    assert_eq!(ran.code, 0, "{reference}: {}", ran.stderr);
    ran.stdout.trim().into()
}

#[test]
fn what_a_smaller_miniature_builds_is_true_and_rewards_are_those_of_its_grades() {
    if !cfg!(all(feature = "questions", feature = "train", feature = "answer", feature = "grade", feature = "report")) {
        println!("skipped: built without the stages of reasoning");
        return;
    }
    let context = context("pipeline.yaml");
    let sets = sets(&SMALL);
    // Claims about so few items need not hold.
    let ran = context.cwm(&[&["run", "-f", PIPELINE, "report"], &sets[..]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let page = output(&context, "report", &sets);
    assert!(page.join("index.html").is_file());

    let Some(python) = python_with("chess, pyarrow.parquet") else { return };
    let path = |reference: &str| output(&context, reference, &sets);
    let option = |name: &str, reference: &str| PathBuf::from(format!("{name}={}", path(reference).display()));
    let built =
        ["best_move", "best_line", "factual"].map(|builder| path(&format!("built[builder={builder}].examples")));
    let mut arguments = vec![option("evaluations", "practice.evaluations"), path("lessons.items")];
    arguments.push(path("searched.examples"));
    arguments.extend(built);
    run(&python, "reasoning_checker.py", &arguments, &context.path(""));
    // No board that models are judged by is among those that they learn from.
    for learned in ["lessons.items", "trials.items"] {
        let arguments = [option("evaluations", "exam.evaluations"), option("apart", learned), path("held_out.items")];
        run(&python, "reasoning_checker.py", &arguments, &context.path(""));
    }

    let arguments = [
        context.path("examples/reasoning"),
        path("lessons.items"),
        path("mixed[data=best_move_all].examples"),
        path("taught.answers"),
        path("marked.grades"),
    ];
    let mut command = std::process::Command::new(&python);
    command.arg("-B").arg(Path::new(ROOT).join("tests/python/reasoning_training.py")).args(arguments);
    let ran = finish(command.env("CWM_PROGRAM", env!("CARGO_BIN_EXE_cwm")).output().expect("Python starts"));
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
}

/// The teacher chooses the first of all candidates, which is right at times.
fn taught(request: &str) -> String {
    let candidate = request.split_once("is the best: ['").and_then(|(_, rest)| rest.split('\'').next());
    format!("<think> I see. </think> <answer> {} </answer>", candidate.unwrap_or("e2e4"))
}

/// A language model's training by other programs: what they read arrives, what they write is cached, and what changes for one of
/// them trains nothing else again.
#[test]
fn programs_that_train_run_as_stages() {
    let Some(shared) = shared() else { return };
    let Some(python) = python("pyarrow.parquet") else { return };
    let context = context("llm.yaml");
    let server = server_with(taught);
    let url = format!("server={}/v1", server.base);
    let games = shared.join("data/lichess-sample.pgn.zst").canonicalize().expect("the sample");
    let games = format!("games={}", games.display());
    let small = ["played=60", "lessons=12", "trials=2", "held_out=3", "searches=3", "tokens=300", "examined=40"];
    let run = |more: &str| {
        let mut sets = vec![url.as_str(), &games, "engine=null", "gpus=0", "gpu=0", more];
        sets.extend(small);
        let sets: Vec<&str> = sets.into_iter().flat_map(|set| ["--set", set]).collect();
        let mut command = context.command(&[&["run", PIPELINE, "--json"], &sets[..]].concat());
        // `python3` is the one that has pyarrow.
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let folders = Path::new(&python).parent().into_iter().map(PathBuf::from).chain(std::env::split_paths(&folders));
        let path = std::env::join_paths(folders).expect("folders");
        command.env("PATH", path).env("CWM_FAKE_TRAINER", "1").env("CWM_PROGRAM", env!("CARGO_BIN_EXE_cwm"));
        Run::read(finish(command.output().expect("cwm starts")))
    };
    let first = run("seed=1");
    assert_eq!(first.raw.code, 0, "{}\n{}", first.raw.stdout, first.raw.stderr);
    assert!(run("seed=1").ran.is_empty());
    let again = run("lr_rl=2e-5");
    assert_eq!(again.raw.code, 0, "{}\n{}", again.raw.stdout, again.raw.stderr);
    let ran = |stage: &str| again.ran.iter().any(|label| label.starts_with(stage));
    assert!(ran("trained[") && ran("after[") && !ran("tuned[") && !ran("before["), "{:?}", again.ran);
}

#[test]
fn the_checker_of_items_and_examples_finds_planted_faults() {
    let Some(shared) = shared() else { return };
    let Some(python) = python_with("chess") else { return };
    let golden = shared.join("systems/reasoning-golden").canonicalize().expect("golden data");
    run(&python, "reasoning_planted.py", &[golden], &shared);
}
