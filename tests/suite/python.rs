//! What Python programs read of our files: the examples of the pages and of `examples/`, run as they stand there.
//!
//! They run where a Python with pyarrow and numpy (and torch) is found: `CWM_PYTHON`, else `python3`.
//! `tests/python/setup` makes one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::context::{Context, finish, shared};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The games of the sample as a dataset.
const SAMPLE: &str = "
cwm: 1
stages:
  corpus: { stage: parse, from: { pgn: { file: 'SAMPLE' } }, with: { id_key_file: key } }
  tokens: { stage: tokenize, from: corpus }
";

/// A Python that has these modules; else says, in words, that the test is skipped, unless `CWM_REQUIRE` names `python`
/// or, for torch, `torch`.
pub fn python(modules: &str) -> Option<OsString> {
    if !cfg!(all(feature = "parse", feature = "tokenize", feature = "inspect")) {
        println!("skipped: built without the stages that make a dataset");
        return None;
    }
    let python = std::env::var_os("CWM_PYTHON").unwrap_or_else(|| "python3".into());
    let found = Command::new(&python).args(["-c", &format!("import {modules}")]).output();
    if found.is_ok_and(|found| found.status.success()) {
        return Some(python);
    }
    let name = if modules.contains("torch") { "torch" } else { "python" };
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
