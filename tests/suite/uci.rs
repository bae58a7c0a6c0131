//! `cwm uci`: a model as an engine, for a chess program that knows nothing of cwm; and the stage `match` in a pipeline.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::context::{Context, finish};
use crate::python::python_with;

/// A model that has learned next to nothing, and a match of it.
const TRAINED: &str = "
cwm: 1
stages:
  games: { stage: play, with: { policy: uniform, games: 8 } }
  corpus: { stage: parse, from: games, with: { ids: site } }
  text: { stage: encode, from: { games: corpus.games }, with: { form: characters } }
  model: { stage: learn, from: { train: text.sequences }, with: { size: d16/l1, batch_size: 2, steps: 1 } }
  against:
    stage: match
    from: { model: model.checkpoint, openings: corpus.games }
    with: { second: random, games: 4, legality: mask, max_plies: 20 }
";

/// The folder in which the pipeline ran; or nothing, and the reason is printed.
fn trained() -> Option<Context> {
    if !cfg!(all(
        feature = "play",
        feature = "parse",
        feature = "encode",
        feature = "learn",
        feature = "match",
        feature = "model-tools"
    )) {
        println!("skipped: built without the stages `play`, `parse`, `encode`, `learn` and `match`");
        return None;
    }
    let context = Context::with(TRAINED);
    let ran = context.run(&[]);
    assert_eq!(ran.raw.code, 0, "{}", ran.raw.stderr);
    Some(context)
}

#[test]
fn a_model_of_a_pipeline_plays_by_its_name() {
    let Some(context) = trained() else { return };
    let mut command = context.command(&["uci", "model"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let text = "uci\nisready\nposition startpos moves e2e4\ngo movetime 10\nquit\n";
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let ran = finish(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[..4], ["id name cwm characters d16/l1", "id author cwm", "uciok", "readyok"]);
    assert!(lines[4].starts_with("info depth 1 nodes 1 pv ") && lines[5].starts_with("bestmove "), "{lines:?}");
    let counts = context.cwm(&["show", "against"]);
    assert!(counts.code == 0 && counts.stdout.contains("illegal_attempts"), "{}", counts.stdout);
    if cfg!(feature = "sql") {
        let games = context.cwm(&["sql", "against.matches", "SELECT count(*) AS games FROM matches", "--csv"]);
        assert_eq!(games.stdout, "games\n4\n", "{}", games.stderr);
    }
    let wrong = context.cwm(&["uci", "corpus"]);
    assert!(
        wrong.code == 2 && wrong.stderr.contains("hint: name a stage that has one, or a checkpoint's folder"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn python_chess_plays_with_it() {
    let (Some(python), Some(context)) = (python_with("chess"), trained()) else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/uci_client.py");
    let mut command = Command::new(python);
    command.arg(script).arg(env!("CARGO_BIN_EXE_cwm")).args(["uci", "model"]).current_dir(context.path("."));
    let ran = finish(command.output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(answer["name"], "cwm characters d16/l1");
    assert_eq!(answer["moves"].as_array().unwrap().len(), 12);
    assert!(answer["alone"].is_null(), "a game that begins elsewhere has no text: {answer}");
}
