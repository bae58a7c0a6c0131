//! The stage as a whole.

mod choosing;
mod placed;
mod values;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cwm_chess::sample;
use cwm_contract::testing::{self, Outcome, Trial};
use cwm_contract::{Cancellation, FailureKind, Stage, Value, Values};
use cwm_encoding::PlainMove;
use cwm_evaluations::{Evaluation, Evaluations, Score};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess};
use tempfile::tempdir;

use crate::Analyse;
use stockfish::stockfish;

#[path = "../../../../crates/uci/src/tests/stockfish.rs"]
pub(crate) mod stockfish;

/// A trial on so many games of so many plies.
fn trial(folder: &Path, engine: &Path, games: usize, plies: usize) -> Trial {
    let all: Vec<_> = sample::games().iter().cycle().take(games).map(|game| game[..plies].to_vec()).collect();
    let _ = std::fs::remove_dir_all(folder.join("games"));
    sample::write_games(&folder.join("games"), &all).unwrap();
    Trial::new(folder.join("work"))
        .input("games", folder.join("games"))
        .with("engine", Value::Text(engine.display().to_string()))
        .with("nodes", Value::Int(50))
}

fn rows(outcome: &Outcome) -> Vec<Evaluation> {
    Evaluations::open(&outcome.outputs["evaluations"]).unwrap().collect::<Result<_, _>>().unwrap()
}

fn bytes(outcome: &Outcome) -> Vec<u8> {
    std::fs::read(&outcome.outputs["evaluations"]).unwrap()
}

fn counts(outcome: &Outcome) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(&outcome.outputs["counts"]).unwrap()).unwrap()
}

fn position(row: &Evaluation) -> Chess {
    row.fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
}

/// All parameters: these, and the defaults of the others.
fn values(given: &[(&str, Value)]) -> Values {
    let specs = Analyse.parameters().into_iter();
    let defaults = specs.map(|spec| (spec.name.to_owned(), spec.default.unwrap_or_default()));
    defaults.chain(given.iter().map(|(name, value)| ((*name).to_owned(), value.clone()))).collect()
}

/// A program at `path`.
fn script(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn every_position_has_a_legal_move_and_its_place() {
    let Some(engine) = stockfish() else { return };
    let folder = tempdir().unwrap();
    let outcome = trial(folder.path(), &engine, 2, 5).run(&Analyse).unwrap();
    let rows = rows(&outcome);
    let places: Vec<_> = rows.iter().map(|row| (row.record, row.game.unwrap(), row.t.unwrap())).collect();
    let expected: Vec<_> = (0..12).map(|record| (record, record / 6, (record % 6) as u32)).collect();
    assert_eq!(places, expected);
    assert_eq!(rows[0].fen, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    for row in &rows {
        let plain = PlainMove::from_packed(row.best()).unwrap();
        assert!(cwm_encoding::legal(&position(row), plain).is_some(), "{plain} in {}", row.fen);
        assert!(matches!(row.lines[0].score, Some(Score::Centipawns(_) | Score::Mate(_))), "{row:?}");
    }
    let counts = counts(&outcome);
    assert_eq!((&counts["positions"], &counts["games"], &counts["game_over"]), (&12.into(), &2.into(), &0.into()));
    assert!(counts["engine"].as_str().unwrap().starts_with("Stockfish"), "{counts}");
}

#[test]
fn the_program_and_its_options_stand_with_the_evaluations() {
    let Some(engine) = stockfish() else { return };
    let folder = tempdir().unwrap();
    let options = Value::Map([("UCI_AnalyseMode".to_owned(), Value::Text("true".into()))].into());
    let outcome = trial(folder.path(), &engine, 1, 2).with("options", options).run(&Analyse).unwrap();
    let source = Evaluations::open(&outcome.outputs["evaluations"]).unwrap().description().clone();
    assert_eq!(source.digest, Some(cwm_uci::digest(&engine).unwrap()));
    assert_eq!(source.options["UCI_AnalyseMode"], "true");
    let counts = counts(&outcome);
    assert_eq!(counts["digest"], *source.digest.as_ref().unwrap());
    assert_eq!(counts["options"]["UCI_AnalyseMode"], "true");
}

#[test]
fn cores_and_interruptions_change_nothing() {
    let Some(engine) = stockfish() else { return };
    let folder = tempdir().unwrap();
    let run = |name: &str, cores| trial(&folder.path().join(name), &engine, 40, 3).cores(cores).run(&Analyse).unwrap();
    let one = run("one", 1);
    assert_eq!(bytes(&one), bytes(&run("two", 2)));
    // As after an interruption: one block is finished, and another was open.
    let kept = folder.path().join("two/work/checkpoints");
    std::fs::rename(kept.join("block-0000001.parquet"), kept.join("block-0000001.open")).unwrap();
    assert_eq!(bytes(&run("two", 2)), bytes(&one));
}

#[test]
fn an_engine_that_dies_fails_the_stage_and_finished_blocks_are_used_again() {
    let Some(engine) = stockfish() else { return };
    let folder = tempdir().unwrap();
    // Dies in the second block: it counts the searches that it passes on.
    let dying = folder.path().join("dying");
    script(
        &dying,
        &format!(
            "#!/bin/bash\nn=0\nwhile read -r line; do\n[[ $line == go* ]] && n=$((n + 1))\n((n > 70)) && exit 1\n\
             echo \"$line\"\ndone | {}\n",
            engine.display()
        ),
    );
    let failed = trial(folder.path(), &dying, 40, 3).cores(1).run(&Analyse).err().unwrap();
    assert!(failed.message.starts_with("game 17 (\"sample_0017\"), ply "), "{}", failed.message);
    assert!(folder.path().join("work/checkpoints/block-0000000.parquet").exists());
    let outcome = trial(folder.path(), &engine, 40, 3).cores(1).run(&Analyse).unwrap();
    assert_eq!(rows(&outcome).len(), 160);
}

#[test]
fn sides_plies_and_a_limit_choose_positions() {
    let Some(engine) = stockfish() else { return };
    let folder = tempdir().unwrap();
    let outcome = trial(folder.path(), &engine, 3, 6)
        .with("side", Value::Text("black".into()))
        .with("from_ply", Value::Int(2))
        .with("limit", Value::Int(2))
        .run(&Analyse)
        .unwrap();
    let places: Vec<_> = rows(&outcome).iter().map(|row| (row.game.unwrap(), row.t.unwrap())).collect();
    assert_eq!(places, [(0, 3), (0, 5), (1, 3), (1, 5)]);
}

#[test]
fn nothing_to_ask_is_an_error_in_words() {
    let folder = tempdir().unwrap();
    sample::write_games(&folder.path().join("games"), &[sample::games()[0][..4].to_vec()]).unwrap();
    let trial = Trial::new(folder.path().join("work")).input("games", folder.path().join("games"));
    let failure = trial.with("from_ply", Value::Int(5)).run(&Analyse).err().unwrap();
    assert!(failure.message.starts_with("no position of 1 games is evaluated"), "{}", failure.message);
    assert!(failure.hint.unwrap().contains("`from_ply`"));
}

#[test]
fn what_is_no_engine_is_an_error_in_words() {
    let folder = tempdir().unwrap();
    let failure = trial(folder.path(), Path::new("/usr/games/no-such-engine"), 1, 2).run(&Analyse).err().unwrap();
    assert!(failure.message.contains("/usr/games/no-such-engine"), "{}", failure.message);
    let failure = trial(folder.path(), folder.path(), 1, 2).run(&Analyse).err().unwrap();
    assert!(failure.message.starts_with("parameter `engine` cannot be used: "), "{}", failure.message);
    assert!(failure.hint.unwrap().contains("apt-get install stockfish"));
    let failure = trial(folder.path(), Path::new("/bin/true"), 1, 2).run(&Analyse).err().unwrap();
    assert!(failure.message.contains("uciok"), "{}", failure.message);
    for name in ["Threads", "Skill Level", "EvalFile"] {
        let options = Value::Map([(name.to_owned(), Value::Text("4".into()))].into());
        let failure = trial(folder.path(), Path::new("/bin/true"), 1, 2).with("options", options).run(&Analyse);
        assert!(
            failure.err().unwrap().message.contains(&format!("parameter `options` cannot be used: option `{name}` "))
        );
    }
    let cancelled = Cancellation::default();
    cancelled.cancel();
    let failure = trial(folder.path(), Path::new("/bin/true"), 1, 2).run_until(&Analyse, cancelled).err().unwrap();
    assert_eq!(failure.kind, FailureKind::Cancelled);
}

#[test]
fn the_probe_is_the_same_twice() {
    let Some(engine) = stockfish() else { return };
    let folder = tempdir().unwrap();
    let values = || Values::from([("engine".to_owned(), Value::Text(engine.display().to_string()))]);
    let probe = || testing::probe(&Analyse, values(), folder.path()).unwrap().unwrap();
    let probed = probe();
    assert!(probed.contains_key("run/evaluations"), "{:?}", probed.keys());
    std::fs::remove_dir_all(folder.path()).unwrap();
    std::fs::create_dir_all(folder.path()).unwrap();
    assert!(probe() == probed);
}

#[test]
fn without_a_program_our_own_engine_finds_the_moves_and_is_named() {
    let folder = tempdir().unwrap();
    // Fool's mate, but for its last move.
    let games =
        [[13 | 21 << 6, 52 | 36 << 6, 14 | 30 << 6].map(|packed| PlainMove::from_packed(packed).unwrap()).to_vec()];
    sample::write_games(&folder.path().join("games"), &games).unwrap();
    let run = |name: &str, depth| {
        let trial = Trial::new(folder.path().join(name)).input("games", folder.path().join("games"));
        trial.with("depth", Value::Int(depth)).run(&Analyse)
    };
    let outcome = run("one", 3).unwrap();
    let rows = rows(&outcome);
    assert_eq!(rows.len(), 4);
    let mate = &rows[3].lines[0];
    assert_eq!(PlainMove::from_packed(mate.moves[0]).unwrap().to_string(), "d8h4");
    assert_eq!((mate.score, mate.depth), (Some(Score::Mate(1)), Some(3)));
    assert!(matches!(rows[0].lines[0].score, Some(Score::Centipawns(_))), "{:?}", rows[0]);
    // After 1. f3 e5 White does not let Black mate.
    assert_ne!(PlainMove::from_packed(rows[2].best()).unwrap().to_string(), "g2g4");
    let source = Evaluations::open(&outcome.outputs["evaluations"]).unwrap().description().clone();
    assert_eq!((source.made_by.as_str(), source.nodes), ("cwm's own engine, depth 3", None));
    assert_eq!(bytes(&outcome), bytes(&run("two", 3).unwrap()));
    assert!(run("three", 7).err().unwrap().message.starts_with("parameter `depth` "));
}

#[test]
fn the_probe_of_our_own_engine_is_the_same_twice() {
    let folders = [tempdir().unwrap(), tempdir().unwrap()];
    let [one, two] =
        folders.each_ref().map(|folder| testing::probe(&Analyse, Values::new(), folder.path()).unwrap().unwrap());
    assert!(one.contains_key("run/evaluations") && one == two);
}
