//! Stages that keep what they have done, their engines, and executors killed at random instants.
//!
//! An episode is a store in which these stages run, and are killed until a run ends by itself. What comes of it must be what
//! comes of an undisturbed run, and no process may outlive its stage.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::dice::Dice;
use crate::processes::{self, children, descendants};
use crate::scene::{Executor, Scene, number};

const FILE: &str = "stages.yaml";

/// Two stages that ask an engine, side by side.
fn engines(engine: &Path) -> String {
    let engine = engine.display();
    format!(
        "cwm: 1
stages:
  games: {{ stage: play, with: {{ policy: engine, games: 6, seed: 5 }} }}
  corpus: {{ stage: parse, from: games, with: {{ ids: site }} }}
  labels: {{ stage: analyse, from: {{ games: corpus }}, with: {{ engine: {engine}, nodes: 2000 }} }}
  matches:
    stage: match
    from: {{ openings: corpus }}
    with: {{ first: \"level:2\", second: \"level:0\", engine: {engine}, games: 12, max_plies: 80 }}
"
    )
}

/// All stages that look inside a model, and its training.
#[cfg(all(feature = "learn", feature = "edit", feature = "autoencoder"))]
const INSIDE: &str = "cwm: 1
stages:
  games: { stage: play, with: { policy: engine, games: 300, seed: 5 } }
  corpus: { stage: parse, from: games, with: { ids: site } }
  split: { stage: split, from: corpus, with: { buckets: 10000, validation: 2000 } }
  tokens: { stage: tokenize, from: split }
  words: { stage: encode, from: { games: split.train }, with: { form: words, max_tokens: 40 } }
  gpt:
    stage: learn
    from: { train: words }
    with: { size: d16/l2, options: { bias: \"true\", tied: \"true\" }, batch_size: 8, steps: 150, checkpoint_every: 20 }
  legality: { stage: legality, from: { checkpoint: gpt, games: tokens.validation }, with: { max_tokens: 40 } }
  transpositions: { stage: transpositions, from: tokens.train, with: { max_plies: 16 } }
  alignment: { stage: alignment, from: { checkpoint: gpt, games: tokens.train, transpositions: transpositions } }
  sae:
    stage: autoencoder
    from: { checkpoint: gpt, train: tokens.train, test: tokens.validation }
    with: { tokens: 60000, batch_size: 256, max_tokens: 40, warmup: 5, sparsity_warmup: 10, checkpoint_every: 20 }
  probes:
    stage: linear_probe
    from: { checkpoint: gpt, train: tokens.train, test: tokens.validation }
    with: { max_tokens: 40, epochs: 10 }
  edits:
    stage: edit
    from: { checkpoint: gpt, games: tokens.validation, probes: probes }
    with: { plies: [4, 9], eta: [0.5, 1] }
";

/// Debian's Stockfish; without it, why the test is skipped.
fn stockfish() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/games".into()]);
    let found = folders.map(|folder| folder.join("stockfish")).find(|program| program.is_file());
    if found.is_none() {
        println!("skipped: there is no stockfish: run tests/programs/setup");
        let required = std::env::var("CWM_REQUIRE").unwrap_or_default();
        assert!(required.split(',').all(|name| name != "engine"), "engine is required (CWM_REQUIRE)");
    }
    found
}

fn scene(text: &str) -> Scene {
    let scene = Scene::new();
    fs::write(scene.path(FILE), text).expect("a written file");
    scene
}

/// Kills the executor, one of its stages or one of their engines; returns which, or nothing if it had ended by itself.
fn kill(dice: &mut Dice, executor: &Executor) -> Option<&'static str> {
    let stages = children(executor.pid());
    let engines: Vec<u32> = stages.iter().flat_map(|stage| descendants(*stage)).collect();
    let (what, victim) = match dice.below(3) {
        0 if !stages.is_empty() => ("stage", *dice.one_of(&stages)),
        1 if !engines.is_empty() => ("engine", *dice.one_of(&engines)),
        _ => ("executor", executor.pid()),
    };
    processes::kill(victim).then_some(what)
}

#[test]
fn kills_do_not_change_what_engines_answer_and_leave_no_engine() {
    let Some(engine) = stockfish() else { return };
    kills_change_nothing(&engines(&engine), &["labels", "matches"]);
}

#[cfg(all(feature = "learn", feature = "edit", feature = "autoencoder"))]
#[test]
fn kills_do_not_change_what_is_found_inside_a_model() {
    kills_change_nothing(INSIDE, &["legality", "alignment", "sae", "probes", "edits"]);
}

fn kills_change_nothing(text: &str, stages: &[&str]) {
    let (wanted, seed) = (number("CWM_STAGE_KILLS", 6), number("CWM_KILL_SEED", 1));
    let undisturbed = scene(text);
    let began = Instant::now();
    let ended = undisturbed.cwm(&["run", FILE]);
    assert_eq!(ended.code, 0, "{}", ended.words());
    let seconds = began.elapsed().as_secs_f64();
    let lock = undisturbed.read("stages.lock");
    assert!(stages.iter().all(|stage| lock.contains(stage)), "{lock}");

    let (mut killed, mut episode) = (Vec::new(), 0);
    while (killed.len() as u64) < wanted {
        let (mut dice, scene, mut runs) = (Dice::new(seed, episode), scene(text), 0);
        let at = |runs: u32, what: &str| format!("CWM_KILL_SEED={seed}, episode {episode}, run {runs}: {what}");
        loop {
            runs += 1;
            let mut executor = scene.start(runs as usize, &["run", FILE]);
            // Later runs have less to do, so that one of them ends before it is killed.
            std::thread::sleep(Duration::from_secs_f64(seconds * dice.below(1_000) as f64 / 1_000.0));
            killed.extend(executor.runs().then(|| kill(&mut dice, &executor)).flatten());
            let ended = executor.end();
            scene.no_strays().unwrap_or_else(|left| panic!("{}", at(runs, &left)));
            assert!(matches!(ended.code, 0 | 1 | 137), "{}", at(runs, &ended.words()));
            assert!(!ended.stderr.contains("panicked"), "{}", at(runs, &ended.words()));
            if ended.code == 0 {
                break;
            }
        }
        assert_eq!(scene.read("stages.lock"), lock, "{}", at(runs, "other results"));
        episode += 1;
    }
    let count = |name: &str| killed.iter().filter(|what| **what == name).count();
    let [executors, stages, engines] = ["executor", "stage", "engine"].map(count);
    println!("{executors} executors, {stages} stages, {engines} engines killed in {episode} episodes");
}
