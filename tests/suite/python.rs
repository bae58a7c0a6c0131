//! Python programs that read our files: the examples of the pages and of `examples/`, run as they stand there.
//!
//! They run where a Python with pyarrow and numpy (and torch) is found: `CWM_PYTHON`, else `python3`.
//! `tests/python/setup` makes one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::context::{Context, Run, finish, shared};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The games of the sample as a dataset.
const SAMPLE: &str = "
cwm: 1
stages:
  corpus: { stage: parse, from: { pgn: { file: 'SAMPLE' } }, with: { id_key_file: key } }
  tokens: { stage: tokenize, from: corpus }
";

/// A Python that has these modules; else says, in words, that the test is skipped, unless `CWM_REQUIRE` names `python`
/// or, for torch and llama.cpp, `torch` and `llama`.
pub fn python(modules: &str) -> Option<OsString> {
    if !cfg!(all(feature = "parse", feature = "tokenize", feature = "inspect")) {
        println!("skipped: built without the stages that make a dataset");
        return None;
    }
    python_with(modules)
}

/// The same for a test that needs no dataset.
pub fn python_with(modules: &str) -> Option<OsString> {
    let python = std::env::var_os("CWM_PYTHON").unwrap_or_else(|| "python3".into());
    let found = Command::new(&python).args(["-c", &format!("import {modules}")]).output();
    if found.is_ok_and(|found| found.status.success()) {
        return Some(python);
    }
    let name = match modules {
        _ if modules.contains("torch") => "torch",
        _ if modules.contains("xllamacpp") => "llama",
        _ => "python",
    };
    let required = std::env::var("CWM_REQUIRE").unwrap_or_default();
    assert!(
        required.split(',').all(|required| required != name),
        "{name} is required (CWM_REQUIRE), but {} cannot import {modules}: run tests/python/setup",
        python.display()
    );
    println!("skipped: {} cannot import {modules} (tests/python/setup makes one that can)", python.display());
    None
}

/// A folder in which the sample became a dataset.
fn sample(shared: &Path) -> Context {
    let games = shared.join("data/lichess-sample.pgn.zst").canonicalize().expect("the sample");
    let context = Context::with(&SAMPLE.replace("SAMPLE", &games.display().to_string()));
    context.write("key", "cwm-test-key\n");
    let run = context.run(&[]);
    assert_eq!(run.raw.code, 0, "{}\n{}", run.raw.stdout, run.raw.stderr);
    context
}

fn export(context: &Context, more: &[&str]) {
    let mut arguments = vec!["export", "tokens.dataset"];
    arguments.extend(more);
    let ran = context.cwm(&arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

/// Runs a script of `tests/python` in `folder`; what it prints is printed.
#[track_caller]
pub fn run(python: &OsString, script: &str, arguments: &[PathBuf], folder: &Path) {
    let mut command = Command::new(python);
    // -B: nothing is written beside the scripts.
    command.arg("-B").arg(Path::new(ROOT).join("tests/python").join(script)).args(arguments).current_dir(folder);
    let ran = finish(command.output().expect("Python starts"));
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    println!("{script}: {}", ran.stdout.trim());
}

#[test]
fn the_examples_of_formats_md_read_golden_games() {
    let Some(shared) = shared() else { return };
    let Some(python) = python("pyarrow.parquet, numpy") else { return };
    let context = sample(&shared);
    let golden = shared.join("golden/games.parquet").canonicalize().expect("golden games");
    let arguments = [Path::new(ROOT).join("docs/formats.md"), golden];
    export(&context, &["dataset"]);
    run(&python, "dataset.py", &arguments, &context.path(""));
    export(&context, &["labelled", "--labels"]);
    run(&python, "labelled.py", &arguments, &context.path("labelled"));
}

#[test]
fn the_pytorch_example_gives_golden_labels() {
    let Some(shared) = shared() else { return };
    let Some(python) = python("torch, pyarrow.parquet, numpy") else { return };
    let context = sample(&shared);
    export(&context, &["labelled", "--labels"]);
    let example = Path::new(ROOT).join("examples/pytorch");
    let golden = shared.join("golden/games.parquet").canonicalize().expect("golden games");
    let arguments = [example, golden, context.path("labelled")];
    run(&python, "pytorch.py", &arguments, &context.path(""));
}

/// Compares the files of `cwm log --tensorboard` in `folder`, read by Python, with the curves in the output `source`.
pub fn tensorboard(context: &Context, folder: &str, source: &str) {
    let Some(python) = python("json") else { return };
    let curves = context.cwm(&["show", "--path", source]);
    assert_eq!(curves.code, 0, "{}", curves.stderr);
    let arguments = [PathBuf::from(folder), PathBuf::from(curves.stdout.trim())];
    run(&python, "event_files.py", &arguments, &context.path(""));
}

/// Every number of the stage `bins`, against what numpy makes of the scores that it read.
pub fn bins(context: &Context, bin_width: u32) {
    let Some(python) = python("pyarrow.parquet, numpy") else { return };
    if !cfg!(feature = "sql") {
        println!("skipped: built without the feature `sql`");
        return;
    }
    let path = |source: &str| {
        let ran = context.cwm(&["show", "--path", source]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stdout.trim().to_owned()
    };
    let labels = context.cwm(&["sql", "bins", "select label from overall", "--json"]);
    assert_eq!(labels.code, 0, "{}", labels.stderr);
    let mut arguments = vec![PathBuf::from(path("bins")), bin_width.to_string().into()];
    for line in labels.stdout.lines() {
        let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let label = row["label"].as_str().expect("a label");
        arguments.push(format!("{label}={}", path(&format!("{label}.scores"))).into());
    }
    assert!(arguments.len() > 4, "{arguments:?}");
    run(&python, "bins.py", &arguments, &context.path(""));
}

/// Random games, and predictions of them from a file.
const PREDICTED: &str = "
cwm: 1
stages:
  games: { stage: play, with: { policy: uniform, games: 6 } }
  corpus: { stage: parse, from: games, with: { ids: site } }
  tokens: { stage: tokenize, from: corpus }
  said: { stage: evaluate, from: { games: tokens, predictions: { file: predictions.parquet } } }
";

#[test]
fn the_example_of_predictions_is_read_and_true_labels_are_all_right() {
    let Some(python) = python("pyarrow.parquet, numpy") else { return };
    if !cfg!(all(feature = "play", feature = "evaluate")) {
        println!("skipped: built without the stages `play` and `evaluate`");
        return;
    }
    let context = Context::with(PREDICTED);
    context.write("predictions.parquet", "");
    assert_eq!(context.run(&["tokens"]).raw.code, 0);
    export(&context, &["dataset"]);
    let root = Path::new(ROOT);
    let mut arguments = vec![root.join("docs/formats.md"), root.join("examples/pytorch")];
    arguments.extend(shared().map(|shared| shared.join("golden/games.parquet").canonicalize().expect("golden games")));
    run(&python, "predictions.py", &arguments, &context.path(""));
    let scored = context.run(&[]);
    assert_eq!(scored.raw.code, 0, "{}\n{}", scored.raw.stdout, scored.raw.stderr);
    let shown: serde_json::Value =
        serde_json::from_str(&context.cwm(&["show", "said", "--json"]).stdout).expect("JSON");
    let metrics = ["labelwise", "exact", "trajectory"].map(|name| shown[0]["metrics"][name].as_f64());
    assert_eq!(metrics, [Some(1.0); 3], "{shown}");
}

#[test]
fn a_model_in_pytorch_is_a_row_of_table_8() {
    let Some(python) = python("torch, pyarrow.parquet, numpy") else { return };
    if !cfg!(all(feature = "play", feature = "train", feature = "evaluate", feature = "bins", feature = "report")) {
        println!("skipped: built without all stages of the example");
        return;
    }
    let context = Context::new();
    for file in ["pipeline.yaml", "gru.py", "positions.py"] {
        let text = std::fs::read_to_string(Path::new(ROOT).join("examples/pytorch").join(file)).expect("the example");
        context.write(file, &text);
    }
    let cwm = || {
        let mut command = context.command(&["run", "--json", "--set", "games=40", "--set", "steps=3"]);
        Run::read(finish(command.env("CWM_PYTHON", &python).output().expect("cwm starts")))
    };
    let first = cwm();
    assert_eq!(first.raw.code, 0, "{}\n{}", first.raw.stdout, first.raw.stderr);
    let table = context.read("report/tables/table-08.csv");
    let header: Vec<&str> = table.lines().next().expect("a header").split(',').collect();
    let row = table.lines().find(|line| line.starts_with("ours,GRU in PyTorch,d64/l1,")).expect("a row of its own");
    let numbers = |key: &str| -> Vec<f64> {
        let columns = header.iter().zip(row.split(',')).filter(|(name, _)| name.ends_with(key));
        columns.map(|(_, cell)| cell.parse().unwrap_or_else(|_| panic!("{cell} in {row}"))).collect()
    };
    // After three steps: better than no idea (ln of the classes), far from right.
    for (key, range) in [("_loss", 0.5..3.0), ("_labelwise_percent", 10.0..95.0)] {
        let numbers = numbers(key);
        assert!(numbers.len() == 2 && numbers.iter().all(|number| range.contains(number)), "{key} of {row}");
    }
    assert!(table.contains("\nours,Transformer,d64/l1,"), "{table}");
    assert!(context.read("report/tables/index.json").contains("table-11"));
    let again = cwm();
    assert!(again.ran.is_empty(), "{:?}", again.ran);
}
