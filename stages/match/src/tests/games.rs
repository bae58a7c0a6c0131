//! Games of random moves: their rules, their openings, and what is kept of them.

use std::collections::BTreeSet;

use cwm_contract::{Cancellation, FailureKind, Value};
use cwm_matches::End;
use shakmaty::{Color, Position};
use tempfile::tempdir;

use super::{bytes, counts, games, last_position, openings, players, text, trial};
use crate::Match;

/// The spread of the mean of so many scores, which random games draw four times of five.
fn four_errors(scores: &[f64]) -> f64 {
    let count = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / count;
    let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / (count - 1.0);
    4.0 * (variance / count).sqrt()
}

#[test]
fn random_against_random_is_even_and_every_game_ends_by_a_rule() {
    let folder = tempdir().unwrap();
    let outcome = trial(folder.path(), "random", "random", 2_000).run(&Match).unwrap();
    let games = games(&outcome);
    let scores: Vec<f64> = games.iter().map(|game| game.score).collect();
    assert_eq!(scores.len(), 2_000);
    let mean = scores.iter().sum::<f64>() / 2_000.0;
    assert!((mean - 0.5).abs() < four_errors(&scores), "{mean}");
    for game in &games {
        let last = last_position(game);
        let winner = match game.result.as_str() {
            "1-0" => Some(Color::White),
            "0-1" => Some(Color::Black),
            _ => None,
        };
        let first = if game.first_white { Color::White } else { Color::Black };
        let expected = winner.map_or(0.5, |winner| if winner == first { 1.0 } else { 0.0 });
        assert_eq!(game.score, expected, "game {}", game.game);
        assert_eq!(winner, last.outcome().winner(), "game {}", game.game);
        assert_eq!(game.plies as usize, game.moves.len());
        let is_end = match game.end {
            End::Mate => last.is_checkmate(),
            End::Stalemate => last.is_stalemate(),
            End::Material => last.is_insufficient_material(),
            End::Fifty => last.halfmoves() >= 100,
            End::Threefold => last.outcome().is_unknown(),
            End::MaxPlies => game.plies == 600,
            End::Context | End::Attempts => false,
        };
        assert!(is_end, "game {} ended by {}", game.game, game.end);
    }
    let counts = counts(&outcome);
    assert_eq!(counts["games"], 2_000);
    let ended: u64 = counts["ends"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(ended, 2_000);
    let [wins, draws, losses] = ["wins", "draws", "losses"].map(|key| counts[key].as_u64().unwrap());
    assert_eq!(wins + draws + losses, 2_000);
    assert!((outcome.metrics["score"] - mean).abs() < 1e-12);
    let players = players(&outcome);
    assert_eq!((players.first.kind.as_str(), players.engine, players.legality), ("random", None, None));
}

#[test]
fn pairs_have_one_opening_and_both_colours_and_no_opening_comes_twice() {
    let folder = tempdir().unwrap();
    let openings = openings(folder.path(), 40);
    let run = |seed, colours: &str, games| {
        let trial = trial(folder.path(), "random", "random", games).input("openings", &openings);
        let trial = trial.with("seed", Value::Int(seed)).with("colours", text(colours));
        let _ = std::fs::remove_dir_all(folder.path().join("work/checkpoints"));
        super::games(&trial.run(&Match).unwrap())
    };
    let games = run(0, "both", 60);
    for pair in games.chunks(2) {
        let [one, other] = pair else { panic!("an odd number") };
        assert_eq!((one.pair, &one.opening, &one.moves[..8]), (other.pair, &other.opening, &other.moves[..8]));
        assert!(one.first_white && !other.first_white);
        assert_eq!(one.pair, one.game / 2);
        assert_ne!(one.moves, other.moves);
    }
    let drawn: BTreeSet<&str> = games.iter().map(|game| game.opening.as_str()).collect();
    assert_eq!(drawn.len(), 30);
    let order = |games: &[cwm_matches::Game]| games.iter().map(|game| game.opening.clone()).collect::<Vec<_>>();
    assert_ne!(order(&games), order(&run(1, "both", 60)));
    let singles = run(0, "first_white", 40);
    assert!(singles.iter().all(|game| game.first_white && game.pair == game.game));
    assert_eq!(singles.iter().map(|game| &game.opening).collect::<BTreeSet<_>>().len(), 40);
}

#[test]
fn cores_and_interruptions_change_nothing() {
    let folder = tempdir().unwrap();
    let run = |name: &str, cores| {
        let folder = folder.path().join(name);
        bytes(&trial(&folder, "random", "random", 40).cores(cores).run(&Match).unwrap())
    };
    let one = run("one", 1);
    assert_eq!(one, run("three", 3));
    // Killed at any byte: what is whole is kept, the rest is played again.
    let journal = folder.path().join("three/work/checkpoints/games.jsonl");
    let whole = std::fs::read(&journal).unwrap();
    for length in [0, 1, whole.len() / 3, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&journal, &whole[..length]).unwrap();
        assert_eq!(one, run("three", 2), "cut at {length}");
    }
    // Zeros, as a file system may leave them.
    let mut spoilt = whole.clone();
    spoilt[whole.len() / 2..].fill(0);
    std::fs::write(&journal, &spoilt).unwrap();
    assert_eq!(one, run("three", 2));
}

#[test]
fn no_finished_game_is_played_again() {
    let folder = tempdir().unwrap();
    let run = || trial(folder.path(), "random", "random", 20).run(&Match).unwrap();
    run();
    let journal = folder.path().join("work/checkpoints/games.jsonl");
    // A game that was kept is taken as it is.
    let text = std::fs::read_to_string(&journal).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[0] = lines[0].replace("\"illegal_attempts\":0", "\"illegal_attempts\":77");
    std::fs::write(&journal, lines[..10].join("\n") + "\n").unwrap();
    let outcome = run();
    assert_eq!(counts(&outcome)["illegal_attempts"], 77);
    assert_eq!(games(&outcome).len(), 20);
}

#[test]
fn a_game_depends_on_its_number_and_not_on_how_many_there_are() {
    let folder = tempdir().unwrap();
    let run =
        |name: &str, count| games(&trial(&folder.path().join(name), "random", "random", count).run(&Match).unwrap());
    assert_eq!(run("few", 4), run("many", 10)[..4]);
}

#[test]
fn our_own_engine_beats_random_moves() {
    let folder = tempdir().unwrap();
    let outcome = trial(folder.path(), "depth:1", "random", 20).run(&Match).unwrap();
    assert!(outcome.metrics["score"] > 0.9, "{:?}", outcome.metrics);
    assert!(players(&outcome).engine.is_none());
}

#[test]
fn a_game_that_is_too_long_is_a_draw() {
    let folder = tempdir().unwrap();
    let trial = trial(folder.path(), "random", "random", 10).with("max_plies", Value::Int(12));
    for game in games(&trial.run(&Match).unwrap()) {
        assert!(game.plies < 12 || (game.end, game.plies, game.score) == (End::MaxPlies, 12, 0.5), "{game:?}");
    }
}

#[test]
fn the_games_are_read_as_pgn() {
    let folder = tempdir().unwrap();
    let outcome = trial(folder.path(), "random", "random", 4).with("seed", Value::Int(3)).run(&Match).unwrap();
    let file = std::fs::File::open(&outcome.outputs["games"]).unwrap();
    let text = String::from_utf8(zstd::decode_all(file).unwrap()).unwrap();
    assert_eq!(text.matches("[Event \"cwm match\"]").count(), 4);
    let sites = sites(&outcome);
    assert_eq!(sites.len(), 4);
    for (number, game) in games(&outcome).iter().enumerate() {
        assert!(sites[number].starts_with("cwm_match_random_random_3_"), "{text}");
        assert!(sites[number].ends_with(&format!("_{number:06}")), "{text}");
        assert!(text.contains(&format!(" {}\n\n", game.result)));
    }
}

#[test]
fn games_of_other_matches_have_other_sites() {
    let folder = tempdir().unwrap();
    let run = |name: &str, games, max_plies, openings: Option<&std::path::Path>| {
        let trial =
            trial(&folder.path().join(name), "random", "random", games).with("max_plies", Value::Int(max_plies));
        let trial = openings.into_iter().fold(trial, |trial, path| trial.input("openings", path));
        sites(&trial.run(&Match).unwrap())
    };
    let given = openings(folder.path(), 1);
    let one = run("one", 2, 20, None);
    assert_eq!(one, run("more", 4, 20, None)[..2]);
    for other in [run("longer", 2, 30, None), run("opened", 2, 20, Some(&given))] {
        assert!(other.iter().all(|site| !one.contains(site)), "{other:?} {one:?}");
    }
}

/// The `Site` of each game.
fn sites(outcome: &cwm_contract::testing::Outcome) -> Vec<String> {
    let file = std::fs::File::open(&outcome.outputs["games"]).unwrap();
    let text = String::from_utf8(zstd::decode_all(file).unwrap()).unwrap();
    text.lines().filter_map(|line| Some(line.strip_prefix("[Site \"")?.strip_suffix("\"]")?.to_owned())).collect()
}

#[test]
fn it_stops_when_asked() {
    let folder = tempdir().unwrap();
    let cancellation = Cancellation::default();
    cancellation.cancel();
    let failure = trial(folder.path(), "random", "random", 1_000_000).run_until(&Match, cancellation).err().unwrap();
    assert_eq!(failure.kind, FailureKind::Cancelled);
}
