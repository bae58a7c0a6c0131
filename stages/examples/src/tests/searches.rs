//! The builders that search.

use cwm_contract::testing::shared;
use cwm_evaluations::Evaluations;
use serde::Deserialize;
use shakmaty::Position;
use shakmaty::uci::UciMove;

use super::*;

/// The position after these moves, all of which are legal.
fn after<'m>(position: &Chess, moves: impl IntoIterator<Item = &'m str>) -> Chess {
    moves.into_iter().fold(position.clone(), |position, uci| {
        position.clone().play(uci.parse::<UciMove>().unwrap().to_move(&position).unwrap()).unwrap()
    })
}

#[test]
fn every_line_is_legal_and_ends_with_its_value() {
    let folder = tempdir().unwrap();
    let outcome = on_games(folder.path(), "best_line", 4, 60).run(&Examples).unwrap();
    assert_eq!(counts(&outcome)["engine"], "cwm's own engine, depth 2");
    let (mut lengths, mut mates) = ([0; 7], 0);
    for example in examples(&outcome) {
        let target = example.target();
        if let Some(line) = target.strip_suffix(" mate") {
            assert!(after(&position(&example), line.split(' ')).is_checkmate(), "{target}");
            mates += 1;
        } else {
            let (line, change) = target.split_once(" [Δ").unwrap();
            let change = change.strip_suffix(']').unwrap();
            assert!(change.starts_with(['+', '-']) && change.parse::<i32>().is_ok(), "{target}");
            after(&position(&example), line.split(' '));
            let plies = line.split(' ').count();
            assert_eq!(example.meta.get("plies").and_then(serde_json::Value::as_u64), Some(plies as u64));
            lengths[plies] += 1;
        }
    }
    assert!(lengths[4..].iter().all(|count| *count > 20) && mates > 0, "{lengths:?} {mates}");
}

#[derive(Deserialize)]
struct GoldenLine {
    id: usize,
    targets: std::collections::BTreeMap<usize, Option<String>>,
}

#[derive(Deserialize)]
struct GoldenPosition {
    id: usize,
    fen: String,
}

fn golden<T: serde::de::DeserializeOwned>(name: &str) -> Option<Vec<T>> {
    let text = std::fs::read_to_string(shared(&format!("systems/reasoning-golden/{name}"))?).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn golden_lines_of_stockfish_15_1() {
    let (Some(rows), Some(fens)) = (golden::<GoldenLine>("lines.jsonl"), golden::<GoldenPosition>("positions.jsonl"))
    else {
        return;
    };
    let Some(engine) = stockfish::stockfish() else { return };
    let folder = tempdir().unwrap();
    let any: &[(&str, i32)] = &[("a2a3", 0)];
    let positions: Vec<_> = rows.iter().map(|row| (&*fens[row.id].fen, any)).collect();
    assert!(fens.iter().enumerate().all(|(at, position)| position.id == at));
    let run = |seed| {
        let trial = on_evaluations(folder.path(), "best_line", &positions).with("seed", Value::Int(seed));
        trial.with("engine", text(&engine.display().to_string())).run(&Examples).unwrap()
    };
    let outcome = run(0);
    if counts(&outcome)["engine"] != "Stockfish 15.1" {
        println!("skipped: the golden lines are those of Stockfish 15.1, not of {}", counts(&outcome)["engine"]);
        return;
    }
    let mut compared = 0;
    for outcome in [outcome, run(1)] {
        for example in examples(&outcome) {
            let fen = example.meta.text("fen").unwrap();
            let row = rows.iter().find(|row| fens[row.id].fen == fen).unwrap();
            let plies = example.meta.get("plies").and_then(serde_json::Value::as_u64).unwrap();
            assert_eq!(row.targets[&(plies as usize)].as_deref(), Some(example.target()), "{}", row.id);
            compared += 1;
        }
        let none = |row: &GoldenLine| row.targets.values().all(Option::is_none);
        let found = examples(&outcome);
        for row in rows.iter().filter(|row| none(row)) {
            assert!(found.iter().all(|example| example.meta.text("fen") != Some(&*fens[row.id].fen)));
        }
    }
    assert!(compared > 80, "{compared}");
}

/// Checks that the moves of a verbalised search are legal where they stand, and that its answer is one of its root moves.
fn check_search(example: &Example) {
    let target = example.target();
    let (thoughts, answer) = target.split_once(" </think>\n\n<answer> ").unwrap();
    let answer = answer.strip_suffix(" </answer>").unwrap();
    assert_eq!(example.meta.text("move"), Some(answer));
    after(&position(example), [answer]);
    assert!(thoughts.contains(&format!("({answer})")), "{target}");
    assert!(thoughts.contains("[v") && thoughts.contains("[mm"), "{target}");
}

#[test]
fn searches_of_our_own_engine() {
    let folder = tempdir().unwrap();
    let outcome = on_games(folder.path(), "verbalised", 3, 40).with("depth", Value::Int(1)).run(&Examples).unwrap();
    let found = examples(&outcome);
    assert!(found.len() > 90, "{}", found.len());
    found.iter().for_each(check_search);
    let counts = counts(&outcome);
    let nodes = counts["nodes"].as_u64().unwrap();
    assert!(nodes > 8 * found.len() as u64 && counts["contradicted"].as_u64().unwrap() < nodes, "{counts}");
}

#[test]
fn searches_of_stockfish_are_the_same_on_any_number_of_cores() {
    let Some(engine) = stockfish::stockfish() else { return };
    let folder = tempdir().unwrap();
    let run = |name: &str, cores| {
        let trial =
            on_games(&folder.path().join(name), "verbalised", 2, 5).with("nodes", Value::Int(4_000)).cores(cores);
        trial.with("engine", text(&engine.display().to_string())).run(&Examples).unwrap()
    };
    let one = run("one", 1);
    assert!(bytes(&one) == bytes(&run("two", 2)));
    examples(&one).iter().for_each(check_search);
    assert!(counts(&one)["engine"].as_str().unwrap().starts_with("Stockfish"));
    // What an interrupted run kept is not searched again: a journal with other nodes shows it.
    let kept = folder.path().join("one/work/checkpoints/built.jsonl");
    let text = std::fs::read_to_string(&kept).unwrap();
    let line = text.lines().find(|line| line.contains("Example")).unwrap();
    std::fs::write(&kept, line.replace("\"nodes\":", "\"nodes\":100") + "\n").unwrap();
    let nodes = |outcome: &Outcome| counts(outcome)["nodes"].as_u64().unwrap();
    let before = nodes(&one);
    assert!(nodes(&run("one", 2)) >= before + 1_000);
}

#[test]
fn evaluations_are_positions_too() {
    let folder = tempdir().unwrap();
    let fen = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1";
    let outcome = on_evaluations(folder.path(), "best_line", &[(fen, &[("d1d8", 900)])]).run(&Examples).unwrap();
    assert_eq!(examples(&outcome)[0].target(), "d1d8 mate");
    assert_eq!(Evaluations::open(&folder.path().join("evaluations.parquet")).unwrap().total(), 1);
}
