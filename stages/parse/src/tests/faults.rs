//! Bad inputs: each is reported in a message, none causes a panic.

use cwm_contract::testing::Trial;
use cwm_contract::{Cancellation, Event, FailureKind, Value};
use tempfile::tempdir;

use super::{MOVES, counts, dropped, game, games, parse_text};
use crate::Parse;

#[test]
fn faulty_games_are_dropped_and_named() {
    let mut text = game("a", MOVES) + &game("b", "1. e4 e5 2. Ke3 Ke7") + &game("c", "1. e4 --");
    text += &game("d", MOVES).replace("[Result", "[Variant \"Atomic\"]\n[Result");
    let mut bytes = text.clone().into_bytes();
    bytes.extend(game("e", MOVES).replace("[Event \"x\"]", "[Event \"Z\u{fc}\"]").chars().map(|c| c as u8));
    bytes.extend(game("f", "1. e4").into_bytes());
    let folder = tempdir().unwrap();
    let outcome = parse_text(folder.path(), &bytes, &[]).unwrap();
    assert_eq!(dropped(&outcome), "illegal_move 1, not_utf8 1, null_move 1, short 1, variant 1");
    let log: Vec<&str> = outcome
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Log(line) => Some(&line[..]),
            _ => None,
        })
        .collect();
    let place = |needle: &str| text.find(needle).unwrap();
    assert_eq!(
        log[..3],
        [
            format!("dropped game 2: illegal_move at byte {} of the text, `Ke3` at ply 3", place("Ke3")),
            format!("dropped game 3: null_move at byte {} of the text, `--` at ply 2", place("--")),
            format!("dropped game 5: not_utf8 at byte {} of the text", text.len() + 9),
        ]
    );
    assert_eq!(outcome.metrics["games_read"], 6.0);
    assert_eq!(outcome.metrics["dropped_short"], 1.0);

    let folder = tempdir().unwrap();
    let failure = parse_text(folder.path(), &bytes, &[("on_error", Value::Text("fail".into()))]).err().unwrap();
    assert!(failure.message.contains("holds a faulty game: game 2: illegal_move at byte"), "{failure}");
}

#[test]
fn the_log_stays_short() {
    let text = game("a", "1. e5").repeat(3_000);
    let folder = tempdir().unwrap();
    let outcome = parse_text(folder.path(), text.as_bytes(), &[]).unwrap();
    let lines = outcome.events.iter().filter(|event| matches!(event, Event::Log(_))).count();
    assert_eq!(lines, 22);
    let none_kept = |event: &Event| matches!(event, Event::Note(line) if line.starts_with("none of the 3000 games"));
    assert!(outcome.events.iter().any(none_kept));
    let more = "dropped 2980 more, all of which the output `faults` names";
    assert!(outcome.events.contains(&Event::Log(more.into())));
    let faults = std::fs::read_to_string(&outcome.outputs["faults"]).unwrap();
    assert_eq!(faults.lines().count(), 3_000);
    let last: serde_json::Value = serde_json::from_str(faults.lines().last().unwrap()).unwrap();
    let fault = &text[last["byte"].as_u64().unwrap() as usize..];
    assert!(fault.starts_with("e5"), "{last}");
    assert_eq!((&last["file"], &last["game"], &last["reason"]), (&1.into(), &3_000.into(), &"illegal_move".into()));
    assert_eq!(dropped(&outcome), "illegal_move 3000");
}

#[test]
fn generated_games_are_named_by_their_site() {
    let text = game("cwm_random_00000", MOVES) + &MOVES.replace("1. e4", "\n1. e4") + "\n\n" + &game("", MOVES);
    let folder = tempdir().unwrap();
    let outcome = parse_text(folder.path(), text.as_bytes(), &[("ids", Value::Text("site".into()))]).unwrap();
    let found = games(&outcome);
    assert_eq!(found.iter().map(|game| game.id.to_owned()).collect::<Vec<_>>(), ["cwm_random_00000"]);
    assert_eq!(dropped(&outcome), "no_site 2");
}

#[test]
fn the_least_length_counts_plies() {
    let text = game("a", MOVES) + &game("b", &MOVES[..MOVES.len() - 5]);
    for (fullmoves, kept) in [(10, 1), (9, 2), (0, 2), (11, 0)] {
        let folder = tempdir().unwrap();
        let parameters = [("min_fullmoves", Value::Int(fullmoves))];
        let outcome = parse_text(folder.path(), text.as_bytes(), &parameters).unwrap();
        assert_eq!(counts(&outcome)["kept"], kept, "{fullmoves}");
    }
}

#[test]
fn bad_parameters_are_refused_and_cancellation_is_heard() {
    let folder = tempdir().unwrap();
    let failure = parse_text(folder.path(), b"", &[("limit", Value::Int(0))]).err().unwrap();
    assert_eq!(failure.message, "parameter `limit` must be at least 1");
    let cancelled = Cancellation::default();
    cancelled.cancel();
    std::fs::write(folder.path().join("games.pgn"), game("a", MOVES)).unwrap();
    let trial = Trial::new(folder.path()).input("pgn", folder.path().join("games.pgn"));
    let failure = trial.run_until(&Parse, cancelled).err().unwrap();
    assert_eq!(failure.kind, FailureKind::Cancelled);
}
