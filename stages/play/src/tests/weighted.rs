//! Effects of the preferences, compared with uniform play with the same seed.

use std::collections::BTreeMap;

use cwm_contract::Value;
use shakmaty::{Chess, Position};

use super::{PREFERENCES, ParsedGame, read, trial};
use crate::Play;

/// Games of each statistic; the bounds below are many standard errors wide.
const GAMES: i128 = 300;

fn metrics(policy: &str) -> BTreeMap<String, f64> {
    let folder = tempfile::tempdir().unwrap();
    trial(folder.path(), policy, GAMES, 0).run(&Play).unwrap().metrics
}

/// The named mean lies between `from` and `to`.
fn check(metrics: &BTreeMap<String, f64>, name: &str, from: f64, to: f64) {
    let value = metrics[name];
    assert!((from..=to).contains(&value), "{name}: {value} is not in {from}..={to}: {metrics:?}");
}

#[test]
fn each_preference_has_many_of_what_it_prefers() {
    let uniform = metrics("uniform");
    check(&uniform, "plies_per_game", 300.0, 350.0);
    check(&uniform, "captures_per_game", 25.0, 28.0);
    check(&uniform, "promotions_per_game", 2.0, 3.0);
    check(&uniform, "castlings_per_game", 0.03, 0.15);
    check(&uniform, "en_passant_per_game", 0.0, 0.05);

    let long = metrics("long");
    check(&long, "plies_per_game", 595.0, 600.0);
    check(&long, "unfinished", 0.99, 1.0);
    check(&long, "captures_per_game", 10.0, 18.0);

    check(&metrics("promotion"), "promotions_per_game", 7.5, 9.5);

    let castling = metrics("castling");
    check(&castling, "castlings_per_game", 1.0, 4.0 / 3.0);
    check(&castling, "plies_per_game", 300.0, 350.0);

    check(&metrics("en_passant"), "en_passant_per_game", 3.0, 5.0);

    let quiet = metrics("quiet");
    check(&quiet, "captures_per_game", 0.3, 1.2);
    check(&quiet, "plies_per_game", 240.0, 310.0);
}

#[test]
fn promotions_are_to_all_four_kinds_and_castling_is_on_both_wings() {
    let folder = tempfile::tempdir().unwrap();
    let counts = |policy: &str| -> serde_json::Value {
        let outcome = trial(folder.path(), policy, GAMES, 1).run(&Play).unwrap();
        serde_json::from_slice(&std::fs::read(&outcome.outputs["counts"]).unwrap()).unwrap()
    };
    let number = |value: &serde_json::Value| value.as_u64().unwrap() as f64;
    let promotion = counts("promotion");
    let kinds = ["queen", "rook", "bishop", "knight"].map(|kind| number(&promotion["promotions"][kind]));
    let all: f64 = kinds.iter().sum();
    assert!(kinds.iter().all(|kind| (0.22..0.28).contains(&(kind / all))), "{kinds:?}");
    let castling = counts("castling");
    let sides = ["king_side", "queen_side"].map(|side| number(&castling["castlings"][side]));
    assert!((0.7..1.4).contains(&(sides[0] / sides[1])), "{sides:?}");
    assert_eq!((number(&castling["games"]), &castling["policy"]), (GAMES as f64, &"castling".into()));
}

/// Every game of a policy, position by position: the position before each move, and how the move is written.
fn plies(game: &ParsedGame) -> Vec<(Chess, String)> {
    let mut position = Chess::new();
    let ply = |san: &String| {
        let before = position.clone();
        let m = san.parse::<shakmaty::san::SanPlus>().unwrap().san.to_move(&position).unwrap();
        position.play_unchecked(m);
        (before, san.clone())
    };
    game.sans.iter().map(ply).collect()
}

#[test]
fn quiet_games_capture_only_where_there_is_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let games = read(&trial(folder.path(), "quiet", GAMES, 2).run(&Play).unwrap().outputs["pgn"]);
    let mut forced = 0;
    for (before, san) in games.iter().flat_map(plies) {
        if san.contains('x') {
            assert!(before.legal_moves().iter().all(|m| m.is_capture()), "{san} at {before:?}");
            forced += 1;
        }
    }
    assert!(forced > 0);
}

#[test]
fn long_games_never_repeat_a_position_where_they_can_help_it() {
    let folder = tempfile::tempdir().unwrap();
    let games = read(&trial(folder.path(), "long", 20, 3).run(&Play).unwrap().outputs["pgn"]);
    for game in &games {
        let positions: Vec<Chess> = plies(game).into_iter().map(|(before, _)| before).collect();
        for (ply, position) in positions.iter().enumerate() {
            assert!(!positions[..ply].contains(position), "{} repeats itself at ply {ply}", game.tag("Site"));
        }
    }
}

#[test]
fn a_limit_breaks_games_off() {
    let folder = tempfile::tempdir().unwrap();
    for policy in PREFERENCES {
        let trial = trial(folder.path(), policy, 30, 4).with("max_plies", Value::Int(41));
        let outcome = trial.run(&Play).unwrap();
        let games = read(&outcome.outputs["pgn"]);
        for game in &games {
            let broken_off = game.sans.len() == 41 && !game.position.is_game_over();
            assert_eq!(game.tag("Result") == "*", broken_off, "{policy}");
            assert_eq!(game.tag("Termination"), if broken_off { "Unterminated" } else { "Normal" });
        }
        let broken_off = games.iter().filter(|game| game.tag("Result") == "*").count();
        assert!(broken_off > 20 && outcome.metrics["unfinished"] == broken_off as f64 / 30.0, "{policy}");
    }
}

#[test]
fn sites_name_policy_seed_and_number() {
    let folder = tempfile::tempdir().unwrap();
    for policy in PREFERENCES {
        let games = read(&trial(folder.path(), policy, 2, -3).run(&Play).unwrap().outputs["pgn"]);
        for (number, game) in games.iter().enumerate() {
            assert_eq!(game.tag("Site"), format!("cwm_{policy}_-3_{number:06}"));
            assert_eq!(game.tag("White"), format!("cwm-{policy}"));
        }
    }
}
