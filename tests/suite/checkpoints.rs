//! Models of other programs: imported, exported, evaluated in a pipeline, and followed through a game.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::context::{Context, Ran, finish};
use crate::python::{python, run};

/// The parameters of the diagonal SLiCE of width 1, the authors' names.
const TENSORS: [(&str, &[usize]); 12] = [
    ("embedding.weight", &[20_482, 1]),
    ("layers.0.norm1.weight", &[1]),
    ("layers.0.norm2.weight", &[1]),
    ("layers.0.slice.init", &[1]),
    ("layers.0.slice.vf_A.weight", &[1, 2]),
    ("layers.0.slice.vf_B.weight", &[1, 2]),
    ("layers.0.token_mlp.0.bias", &[4]),
    ("layers.0.token_mlp.0.weight", &[4, 1]),
    ("layers.0.token_mlp.2.bias", &[1]),
    ("layers.0.token_mlp.2.weight", &[1, 4]),
    ("output_head.bias", &[1878]),
    ("output_head.weight", &[1878, 1]),
];

/// A safetensors file of a model that believes in the initial position, whatever is played: all is zero but the bias of
/// the head, where the first class of each square of the initial position, and so on, stands out.
fn stubborn(path: &Path) {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, shape) in TENSORS {
        let start = data.len();
        let count: usize = shape.iter().product();
        let bias = |logit: usize| if name == "output_head.bias" && believed(logit) { 6.0 } else { 0.0f32 };
        data.extend((0..count).flat_map(|place| bias(place).to_le_bytes()));
        header.insert(name.to_owned(), json!({ "dtype": "F32", "shape": shape, "data_offsets": [start, data.len()] }));
    }
    let header = Value::Object(header).to_string();
    let length = (header.len() as u64).to_le_bytes();
    std::fs::write(path, [&length[..], header.as_bytes(), &data].concat()).expect("a file");
}

/// Returns true if the initial position has the feature of this logit (docs/formats.md, "The numbers").
fn believed(logit: usize) -> bool {
    let board = "rnbqkbnrpppppppp................................PPPPPPPPRNBQKBNR";
    match logit {
        0..832 => ".PNBRQKpnbrqk".find(&board[logit / 13..=logit / 13]) == Some(logit % 13),
        832..834 => logit == 832,
        834..842 => logit % 2 == 1,
        842 | 851 | 854 | 1110 | 1366 => true,
        other => other == 1622 + 1,
    }
}

/// `cwm` with `input` on its standard input.
fn fed(context: &Context, arguments: &[&str], input: &str) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cwm"));
    child.args(arguments).current_dir(context.path("")).env_remove("CWM_STORE");
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("cwm");
    std::io::Write::write_all(&mut child.stdin.take().expect("its input"), input.as_bytes()).expect("a pipe");
    finish(child.wait_with_output().expect("its output"))
}

fn data(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/foreign/tests/data").join(name).display().to_string()
}

fn has_model_tools() -> bool {
    let has = cfg!(feature = "model-tools");
    if !has {
        println!("skipped: built without the feature `model-tools`");
    }
    has
}

#[test]
fn predicted_positions_are_drawn_next_to_true_ones() {
    if !has_model_tools() {
        return;
    }
    let context = Context::with("cwm: 1\nstages: {}\n");
    stubborn(&context.path("model.safetensors"));
    let ran = context.cwm(&["model", "track", "model.safetensors", "e4", "g8f6"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    insta::assert_snapshot!(ran.stdout, @"
    ply 0  start  75 of 75 right
      predicted                 true
    8  r n b q k b n r        8  r n b q k b n r
    7  p p p p p p p p        7  p p p p p p p p
    6  . . . . . . . .        6  . . . . . . . .
    5  . . . . . . . .        5  . . . . . . . .
    4  . . . . . . . .        4  . . . . . . . .
    3  . . . . . . . .        3  . . . . . . . .
    2  P P P P P P P P        2  P P P P P P P P
    1  R N B Q K B N R        1  R N B Q K B N R
       a b c d e f g h           a b c d e f g h
      to move    white          to move    white
      castling   KQkq           castling   KQkq
      en passant -              en passant -
      half-moves 0              half-moves 0
      full move  1              full move  1
    least sure of half-move clock, high byte: 0 (0.61)

    ply 1  1. e4 (e2e4)  70 of 75 right
      predicted                 true
    8  r n b q k b n r        8  r n b q k b n r
    7  p p p p p p p p        7  p p p p p p p p
    6  . . . . . . . .        6  . . . . . . . .
    5  . . . . . . . .        5  . . . . . . . .
    4  . . . .*. . . .        4  . . . . P . . .
    3  . . . . . . . .        3  . . . . . . . .
    2  P P P P*P P P P        2  P P P P . P P P
    1  R N B Q K B N R        1  R N B Q K B N R
       a b c d e f g h           a b c d e f g h
      to move   *white          to move    black
      castling   KQkq           castling   KQkq
      en passant*-              en passant e3
      half-moves 0              half-moves 0
      full move  1              full move  1
    wrong: e4 . (0.97) for P (0.00), e2 P (0.97) for . (0.00), side to move white (1.00) for black (0.00), en passant file - (0.98) for e (0.00), en passant rank - (1.00) for 3 (0.00)
    least sure of half-move clock, high byte: 0 (0.61)

    ply 2  1... Nf6 (g8f6)  69 of 75 right
      predicted                 true
    8  r n b q k b*n r        8  r n b q k b . r
    7  p p p p p p p p        7  p p p p p p p p
    6  . . . . .*. . .        6  . . . . . n . .
    5  . . . . . . . .        5  . . . . . . . .
    4  . . . .*. . . .        4  . . . . P . . .
    3  . . . . . . . .        3  . . . . . . . .
    2  P P P P*P P P P        2  P P P P . P P P
    1  R N B Q K B N R        1  R N B Q K B N R
       a b c d e f g h           a b c d e f g h
      to move    white          to move    white
      castling   KQkq           castling   KQkq
      en passant -              en passant -
      half-moves*0              half-moves 1
      full move *1              full move  2
    wrong: g8 n (0.97) for . (0.00), f6 . (0.97) for n (0.00), e4 . (0.97) for P (0.00), e2 P (0.97) for . (0.00), half-move clock, low byte 0 (0.61) for 1 (0.00), full-move number, low byte 1 (0.61) for 2 (0.00)
    least sure of half-move clock, high byte: 0 (0.61)
    ");
    assert_eq!(ran.stderr, "1 of 3 positions exact, 214 of 225 labels right; the first error is at ply 1\n");
    assert_eq!(fed(&context, &["model", "track", "model.safetensors"], "1. e4\nNf6\n").stdout, ran.stdout);
    context.write("game.pgn", "[Event \"?\"]\n\n1. e4 Nf6 *\n");
    assert_eq!(context.cwm(&["model", "track", "model.safetensors", "--input", "game.pgn"]).stdout, ran.stdout);
}

#[test]
fn tracking_for_programs_gives_a_line_a_position_and_ends_at_what_is_illegal() {
    if !has_model_tools() {
        return;
    }
    let context = Context::with("cwm: 1\nstages: {}\n");
    stubborn(&context.path("model.safetensors"));
    let ran = context.cwm(&["model", "track", "--json", "model.safetensors", "e4", "Ke3"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("error: `Ke3` at ply 2 is not legal\nhint: legal are Na6, "), "{}", ran.stderr);
    let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    // The move that is none comes after the positions before it.
    assert_eq!((lines.len(), &lines[2]["exit_code"]), (3, &json!(2)));
    assert_eq!(lines[0]["predicted"], lines[0]["true"]);
    assert_eq!(lines[1]["true"], "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1");
    assert_eq!(lines[1]["wrong"][0]["label"], "e4");
    assert_eq!(lines[1]["wrong"].as_array().map(Vec::len), Some(5));
    let summary = context.cwm(&["model", "track", "--summary", "--json", "model.safetensors", "e4", "e5"]);
    let summary: Value = serde_json::from_str(&summary.stdout).expect("JSON");
    assert_eq!((&summary["positions"], &summary["exact"], &summary["first_error"]), (&json!(3), &json!(1), &json!(1)));
    let nobody = context.cwm(&["model", "track", "nobody", "e4"]);
    assert_eq!(nobody.code, 2, "{}", nobody.stderr);
}

#[test]
fn a_file_of_torch_becomes_a_checkpoint_once() {
    if !has_model_tools() {
        return;
    }
    let context = Context::with("cwm: 1\nstages: {}\n");
    for (file, folder) in [("archive.pt", "one"), ("legacy.pt", "other")] {
        let ran = context.cwm(&["model", "import", &data(file), folder]);
        assert_eq!((ran.code, ran.stdout.trim()), (0, folder), "{}", ran.stderr);
        assert!(ran.stderr.contains("slice_diag d1/l1, 3779 parameters, 3 tokens"), "{}", ran.stderr);
        assert!(ran.stderr.contains("read from `model_state_dict`"), "{}", ran.stderr);
    }
    let weights = |folder: &str| std::fs::read(context.path(folder).join("model.safetensors")).expect("weights");
    assert!(weights("one") == weights("other"));
    let again = context.cwm(&["model", "import", &data("archive.pt"), "one"]);
    assert_eq!(again.code, 2);
    assert!(again.stderr.contains("one is there already"), "{}", again.stderr);
    context.write("broken.pt", "PK\u{3}\u{4}");
    let broken = context.cwm(&["model", "import", "broken.pt", "three"]);
    assert_eq!(broken.code, 2, "{}", broken.stderr);
    assert!(!context.path("three").exists());
    let left: Vec<PathBuf> =
        std::fs::read_dir(context.path("")).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    assert!(left.iter().all(|path| !path.display().to_string().contains(".cwm-import")), "{left:?}");
}

/// A model from a file, beside games that it is tested on.
const PRETRAINED: &str = "
cwm: 1
stages:
  games: { stage: play, with: { policy: uniform, games: 3 } }
  corpus: { stage: parse, from: games, with: { ids: site } }
  tokens: { stage: tokenize, from: corpus }
  theirs: { stage: pretrained, with: { source: model.safetensors } }
  scores: { stage: evaluate, from: { checkpoint: theirs, games: tokens } }
";

#[test]
fn a_pipeline_tests_an_imported_model_and_marks_it_as_such() {
    if !cfg!(all(
        feature = "play",
        feature = "pretrained",
        feature = "evaluate",
        feature = "model-tools",
        feature = "inspect"
    )) {
        println!("skipped: built without the stages `play`, `pretrained` and `evaluate`");
        return;
    }
    let context = Context::with(PRETRAINED);
    stubborn(&context.path("model.safetensors"));
    let ran = context.run(&[]);
    assert_eq!(ran.raw.code, 0, "{}", ran.raw.stderr);
    let shown = context.cwm(&["show", "theirs"]);
    assert!(shown.stdout.contains("imported") && shown.stdout.contains("file blake3:"), "{}", shown.stdout);
    let track = |what: &str| context.cwm(&["model", "track", what, "--summary", "d4", "d5"]);
    assert_eq!(track("theirs").stdout, track("model.safetensors").stdout);
    assert!(track("scores.scores").stderr.contains("no checkpoint"), "{}", track("scores.scores").stderr);
    assert_eq!(context.cwm(&["export", "theirs", "exported"]).code, 0);
    let exported = std::fs::read(context.path("exported/model.safetensors")).expect("weights");
    let description = std::fs::read_to_string(context.path("exported/model.json")).expect("a description");
    assert!(!description.contains("model.safetensors"), "{description}");
    assert!(!description.contains(&context.path("").display().to_string()), "{description}");
    let ours = context.cwm(&["model", "import", "exported/model.safetensors", "again"]);
    assert_eq!(ours.code, 0, "{}", ours.stderr);
    assert!(exported == std::fs::read(context.path("again/model.safetensors")).expect("weights"));
}

#[test]
fn files_of_torch_save_are_read_bit_for_bit() {
    if !has_model_tools() {
        return;
    }
    let Some(python) = python("torch, safetensors.torch, numpy") else { return };
    let context = Context::with("cwm: 1\nstages: {}\n");
    assert_eq!(context.cwm(&["model", "import", &data("archive.pt"), "ours"]).code, 0);
    // What is hard to keep: zeros of both signs, infinities, NaN with payloads, the smallest number.
    let weights = context.path("ours/model.safetensors");
    let mut bytes = std::fs::read(&weights).expect("weights");
    let end = bytes.len();
    for (place, bits) in [0x8000_0000u32, 0x7f80_0000, 0xff80_0000, 0x7fc0_0001, 0xffa5_5aa5, 1].iter().enumerate() {
        let at = end - 4 * (7 * place + 1);
        bytes[at..at + 4].copy_from_slice(&bits.to_le_bytes());
    }
    std::fs::write(&weights, &bytes).expect("weights");
    let folder = context.path("saved");
    std::fs::create_dir(&folder).expect("a folder");
    run(&python, "checkpoints.py", &["wrap".into(), weights.clone(), folder.clone()], &context.path(""));
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).expect("files").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    assert!(files.len() > 25, "{files:?}");
    for (place, file) in files.iter().enumerate() {
        let name = file.file_stem().expect("a name").to_string_lossy();
        let target = format!("again{place}");
        let ran = context.cwm(&["model", "import", &file.display().to_string(), &target]);
        assert_eq!(ran.code, 0, "{}: {}", file.display(), ran.stderr);
        let back = context.path(&target).join("model.safetensors");
        let found = std::fs::read(&back).expect("weights");
        // PyTorch quiets a signalling NaN when it widens it.
        let quieted = |bytes: &[u8]| {
            name.starts_with("double") && f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]).is_nan()
        };
        let pairs = bytes.rchunks(4).zip(found.rchunks(4));
        assert!(
            bytes.len() == found.len() && pairs.into_iter().all(|(a, b)| a == b || quieted(a)),
            "{}",
            file.display()
        );
        if place == 0 {
            run(&python, "checkpoints.py", &["compare".into(), weights.clone(), back], &context.path(""));
        }
    }
}
