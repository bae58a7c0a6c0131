//! Games of a real engine, at levels and at full strength, and of engines that fail.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cwm_contract::Value;
use cwm_contract::Values;
use cwm_contract::testing::{self, Trial};
use tempfile::tempdir;

use super::stockfish::stockfish;
use super::{bytes, counts, games, openings, players, text, trial};
use crate::Match;

fn with_engine(trial: Trial, engine: &Path) -> Trial {
    trial.with("engine", text(&engine.display().to_string()))
}

#[test]
fn the_weakest_level_beats_random_moves() {
    let Some(engine) = stockfish() else { return };
    let folder = tempdir().unwrap();
    let trial = with_engine(trial(folder.path(), "level:0", "random", 40), &engine);
    let outcome = trial.input("openings", openings(folder.path(), 20)).run(&Match).unwrap();
    assert!(outcome.metrics["score"] > 0.9, "{:?}", outcome.metrics);
    let engine = players(&outcome).engine.unwrap();
    assert!(engine.name.starts_with("Stockfish") && engine.digest.len() == 64);
    assert!(counts(&outcome)["engine"].as_str().unwrap().starts_with("Stockfish"));
    assert!(games(&outcome).iter().all(|game| game.level.is_none()));
}

#[test]
fn a_higher_level_beats_a_lower_one() {
    let Some(engine) = stockfish() else { return };
    let folder = tempdir().unwrap();
    let trial = with_engine(trial(folder.path(), "level:3", "level:0", 40), &engine);
    let outcome = trial.input("openings", openings(folder.path(), 20)).run(&Match).unwrap();
    assert!(outcome.metrics["score"] > 0.6, "{:?}", outcome.metrics);
    assert!(games(&outcome).iter().all(|game| game.level == Some(0)));
}

#[test]
fn cores_and_interruptions_change_nothing() {
    let Some(engine) = stockfish() else { return };
    let folder = tempdir().unwrap();
    let run = |name: &str, cores| {
        let folder = folder.path().join(name);
        let trial = trial(&folder, "nodes:50", "level:0-3", 6).with("max_plies", Value::Int(40)).cores(cores);
        with_engine(trial, &engine).run(&Match).unwrap()
    };
    let one = run("one", 1);
    let levels: Vec<u8> = games(&one).iter().map(|game| game.level.unwrap()).collect();
    assert!(levels.iter().all(|level| *level <= 3) && levels.iter().any(|level| *level != levels[0]), "{levels:?}");
    for game in games(&one) {
        let names = if game.first_white { [&game.white, &game.black] } else { [&game.black, &game.white] };
        assert_eq!(names, ["nodes:50", &format!("level:{}", game.level.unwrap())]);
    }
    assert_eq!(bytes(&one), bytes(&run("two", 2)));
    let journal = folder.path().join("two/work/checkpoints/games.jsonl");
    let whole = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, &whole[..whole.len() * 2 / 3]).unwrap();
    assert_eq!(bytes(&one), bytes(&run("two", 1)));
}

#[test]
fn an_engine_that_dies_fails_the_stage_and_finished_games_are_kept() {
    let Some(engine) = stockfish() else { return };
    let folder = tempdir().unwrap();
    // It counts the searches that it passes on.
    let dying = folder.path().join("dying");
    let script = format!(
        "#!/bin/bash\nn=0\nwhile read -r line; do\n[[ $line == go* ]] && n=$((n + 1))\n((n > 25)) && exit 1\n\
         echo \"$line\"\ndone | {}\n",
        engine.display()
    );
    std::fs::write(&dying, script).unwrap();
    std::fs::set_permissions(&dying, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = |engine: &Path| {
        let trial = trial(folder.path(), "nodes:10", "random", 6).with("max_plies", Value::Int(20)).cores(1);
        with_engine(trial, engine).run(&Match)
    };
    let failure = run(&dying).err().unwrap();
    assert!(failure.message.starts_with("game 2, ply "), "{}", failure.message);
    let kept = std::fs::read_to_string(folder.path().join("work/checkpoints/games.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 2);
    assert_eq!(games(&run(&engine).unwrap()).len(), 6);
}

#[test]
fn what_is_no_engine_or_has_unknown_levels_is_an_error_in_words() {
    let folder = tempdir().unwrap();
    let failure = |engine: &str, second: &str| {
        with_engine(trial(folder.path(), "random", second, 2), Path::new(engine)).run(&Match).err().unwrap()
    };
    let missing = failure("/usr/games/no-such-engine", "nodes:1");
    assert!(missing.message.contains("/usr/games/no-such-engine is not there"), "{}", missing.message);
    assert!(missing.hint.unwrap().contains("apt-get install stockfish"));
    assert!(failure("/bin/true", "level:3").message.contains("uciok"));
    let other = folder.path().join("other");
    let script = "#!/bin/bash\nwhile read -r line; do case $line in\nuci) echo id name Fish 1; \
                  echo option name MultiPV type spin default 1 min 1 max 9; echo uciok;;\nisready) echo readyok;;\n\
                  quit) exit;;\nesac; done\n";
    std::fs::write(&other, script).unwrap();
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).unwrap();
    let unknown = failure(&other.display().to_string(), "level:3");
    assert_eq!(unknown.message, "levels of the engine `Fish 1` are not known");
    assert!(unknown.hint.unwrap().contains("Stockfish 15.1"));
}

#[test]
fn the_probe_is_the_same_twice() {
    let Some(engine) = stockfish() else { return };
    let folder = tempdir().unwrap();
    let values = || {
        Values::from([
            ("engine".to_owned(), text(&engine.display().to_string())),
            ("first".to_owned(), text("nodes:100000000")),
            ("second".to_owned(), text("level:19")),
            ("games".to_owned(), Value::Int(1_000)),
        ])
    };
    let probe = || testing::probe(&Match, values(), folder.path()).unwrap().unwrap();
    let probed = probe();
    assert!(probed.keys().eq(["run/counts", "run/games", "run/matches"]), "{:?}", probed.keys());
    std::fs::remove_dir_all(folder.path()).unwrap();
    std::fs::create_dir_all(folder.path()).unwrap();
    assert!(probe() == probed);
}
