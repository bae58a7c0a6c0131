//! Positions that are drawn from games.

use std::collections::{BTreeMap, HashSet};

use shakmaty::Position;

use super::*;

/// A trial of our own engine on so many games of the sample.
fn trial(folder: &Path, games: usize) -> Trial {
    let all: Vec<_> = sample::games().iter().take(games).cloned().collect();
    let _ = std::fs::remove_dir_all(folder.join("games"));
    sample::write_games(&folder.join("games"), &all).unwrap();
    Trial::new(folder.join("work")).input("games", folder.join("games")).with("depth", Value::Int(1))
}

fn shares(of: &[(&str, f64)]) -> Value {
    Value::Map(of.iter().map(|(name, share)| ((*name).to_owned(), Value::Float(*share))).collect())
}

#[test]
fn so_many_positions_of_each_game_are_drawn_and_each_board_once() {
    let folder = tempdir().unwrap();
    let run = |name: &str, seed| {
        trial(&folder.path().join(name), 6).with("per_game", Value::Int(7)).with("seed", Value::Int(seed)).run(&Analyse)
    };
    let outcome = run("one", 1).unwrap();
    let rows = rows(&outcome);
    let mut of_game = BTreeMap::new();
    rows.iter().for_each(|row| *of_game.entry(row.game.unwrap()).or_insert(0) += 1);
    assert!(of_game.len() == 6 && of_game.values().all(|&number| number == 7), "{of_game:?}");
    assert!(rows.is_sorted_by_key(|row| (row.game, row.t)));
    assert_eq!(rows.iter().map(|row| &row.fen).collect::<HashSet<_>>().len(), rows.len());
    assert_eq!(bytes(&outcome), bytes(&run("two", 1).unwrap()));
    assert_ne!(bytes(&outcome), bytes(&run("three", 2).unwrap()));
    let all = super::rows(&trial(&folder.path().join("all"), 6).run(&Analyse).unwrap()).len();
    let dropped =
        counts(&outcome)["dropped"].as_object().unwrap().values().filter_map(|number| number.as_u64()).sum::<u64>();
    assert_eq!(dropped as usize + rows.len(), all);
}

#[test]
fn drawn_positions_have_the_wanted_shares() {
    let folder = tempdir().unwrap();
    let wanted = shares(&[("0-9", 0.25), ("10-19", 0.5), ("20+", 0.25)]);
    let outcome = trial(folder.path(), 10)
        .with("fullmoves", wanted)
        .with("sides", Value::Text("balanced".into()))
        .run(&Analyse)
        .unwrap();
    let rows = rows(&outcome);
    let mut cells = BTreeMap::new();
    for row in &rows {
        let position = position(row);
        let range = match position.fullmoves().get() {
            0..=9 => 0,
            10..=19 => 1,
            _ => 2,
        };
        *cells.entry((range, position.turn().is_white())).or_insert(0usize) += 1;
    }
    let number = |range, white| cells.get(&(range, white)).copied().unwrap_or_default();
    for (range, share) in [(0, 0.125), (1, 0.25), (2, 0.125)] {
        for white in [true, false] {
            let wanted = share * rows.len() as f64;
            assert!((number(range, white) as f64 - wanted).abs() <= 1.0, "{cells:?}");
        }
    }
    assert!(rows.len() > 100, "{}", rows.len());
}

#[test]
fn positions_with_many_pieces_or_few_moves_are_dropped() {
    let folder = tempdir().unwrap();
    let outcome = trial(folder.path(), 10)
        .with("max_pieces", Value::Int(20))
        .with("min_legal", Value::Int(10))
        .run(&Analyse)
        .unwrap();
    let rows = rows(&outcome);
    assert!(!rows.is_empty());
    for row in &rows {
        let position = position(row);
        assert!(position.board().occupied().count() <= 20 && position.legal_moves().len() >= 10, "{}", row.fen);
    }
    let dropped = &counts(&outcome)["dropped"];
    assert!(dropped["many_pieces"].as_u64().unwrap() > 0 && dropped["few_moves"].as_u64().unwrap() > 0);
}

#[test]
fn shares_that_cannot_be_are_errors_in_words() {
    let folder = tempdir().unwrap();
    let fails = |name: &str, value| trial(folder.path(), 2).with(name, value).run(&Analyse).err().unwrap();
    let failure = fails("fullmoves", shares(&[("0-9", 0.5), ("500+", 0.5)]));
    assert_eq!(failure.message, "no position has a full-move number of `500+`");
    assert!(failure.hint.unwrap().contains("`fullmoves`"));
    let failure = fails("fullmoves", shares(&[("early", 1.0)]));
    assert!(failure.message.starts_with("parameter `fullmoves` has `early`: "), "{}", failure.message);
    let failure = fails("apart_from", Value::List(vec![Value::Int(1)]));
    assert!(failure.message.contains("parameter `apart_from` needs `place`"), "{}", failure.message);
    let both = trial(folder.path(), 2).with("puzzles", Value::Bool(true)).with("per_game", Value::Int(2));
    let message = both.run(&Analyse).err().unwrap().message;
    assert!(message.starts_with("parameter `puzzles` need every position of a game"), "{message}");
}

#[test]
fn results_from_before_these_parameters_keep_their_keys() {
    let unused = |given: &[(&str, Value)]| Analyse.unused_parameters(&values(given));
    let new = [
        "hash",
        "multipv",
        "each",
        "place",
        "apart_from",
        "max_pieces",
        "min_legal",
        "per_game",
        "fullmoves",
        "sides",
        "seed",
    ];
    let before = ["depth", "engine", "nodes", "options", "side", "puzzles", "margin", "every", "from_ply", "limit"];
    assert!(new.iter().all(|name| unused(&[]).contains(name)));
    assert!(Analyse.parameters().iter().all(|spec| new.contains(&spec.name) || before.contains(&spec.name)));
    let drawn = unused(&[("per_game", Value::Int(1))]);
    assert!(!drawn.contains(&"per_game") && !drawn.contains(&"seed") && drawn.contains(&"place"));
    let placed = unused(&[("place", Value::Int(1))]);
    assert!(!placed.contains(&"place") && !placed.contains(&"seed") && placed.contains(&"from_ply"));
}
