//! `cwm model`: which arguments name a model, and the exit code if there is none.

use std::process::Command;

use crate::context::Context;

const TRAINED: &str = "
cwm: 1
stages:
  games: { stage: play, with: { policy: uniform, games: 4 } }
  corpus: { stage: parse, from: games, with: { ids: site } }
  tokens: { stage: tokenize, from: corpus }
  model: { stage: train, from: { train: tokens.dataset }, with: { size: d16/l1, batch_size: 2, steps: 1 } }
";

/// A stage that trains has curves beside its checkpoint, and is meant by its name all the same.
#[test]
fn a_stage_that_trains_is_followed_by_its_name() {
    if !cfg!(all(feature = "play", feature = "tokenize", feature = "train", feature = "model-tools")) {
        println!("skipped: built without the stages `play`, `tokenize` and `train`");
        return;
    }
    let context = Context::with(TRAINED);
    let tokens = context.cwm(&["model", "track", "tokens", "e4"]);
    let expected =
        "tokens has no checkpoint among its outputs\nhint: name a stage that has one, or a checkpoint's folder, ";
    assert!(tokens.code == 2 && tokens.stderr.contains(expected), "{}", tokens.stderr);
    let ran = context.run(&[]);
    assert_eq!(ran.raw.code, 0, "{}", ran.raw.stderr);
    let tracked = context.cwm(&["model", "track", "model", "--summary", "e4", "e5"]);
    assert_eq!(tracked.code, 0, "{}", tracked.stderr);
    assert!(tracked.stdout.contains(" of 3 positions exact, "), "{}", tracked.stdout);
    assert_eq!(context.cwm(&["model", "track", "model.checkpoint", "--summary", "e4", "e5"]).stdout, tracked.stdout);
    let curves = context.cwm(&["model", "track", "model.curves", "e4"]);
    assert!(curves.code == 2 && curves.stderr.contains("and no checkpoint"), "{}", curves.stderr);
    let folder = context.cwm(&["model", "track", "model", "--input", "."]);
    assert!(folder.code == 2 && folder.stderr.contains(". is a folder; name a file of moves"), "{}", folder.stderr);
}

/// The command line is at fault (2), and not this machine (70).
#[test]
fn an_unreadable_model_is_an_error_of_the_command_line() {
    if !cfg!(feature = "model-tools") {
        println!("skipped: built without the feature `model-tools`");
        return;
    }
    let context = Context::with("cwm: 1\nstages:\n  a: { stage: command, with: { run: 'echo 1 > \"$out\"' } }\n");
    let ran = context.cwm(&["model", "track", "a", "e4"]);
    assert!(ran.code == 2 && ran.stderr.contains("hint: name a stage that has one, "), "{}", ran.stderr);
    let ran = context.cwm(&["model", "parity", "--device", "gpu", "pipeline.yaml"]);
    assert!(ran.code == 2 && ran.stderr.contains("`gpu` is no device"), "{}", ran.stderr);
    let made = Command::new("mkfifo").arg(context.path("pipe")).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped: pipes (coreutils has `mkfifo`)");
        return;
    }
    let ran = context.cwm(&["model", "import", "pipe", "made"]);
    assert!(ran.code == 2 && ran.stderr.contains("pipe is a pipe or a device, and no file"), "{}", ran.stderr);
    let ran = context.cwm(&["model", "parity", "pipe"]);
    assert!(ran.code == 6 && ran.stdout.contains("is no file that could be read to its end"), "{}", ran.stdout);
}
