//! The positions that are drawn.

use cwm_contract::Event;
use shakmaty::Position;

use super::*;

fn shares(of: &[(&str, f64)]) -> Value {
    Value::Map(of.iter().map(|(name, share)| ((*name).to_owned(), Value::Float(*share))).collect())
}

#[test]
fn ranges_and_sides_have_their_shares() {
    let folder = tempdir().unwrap();
    let trial = on_games(folder.path(), "factual", 6, 300)
        .with("limit", Value::Int(80))
        .with("sides", text("balanced"))
        .with("fullmoves", shares(&[("0-9", 0.15), ("10-19", 0.3), ("20-29", 0.25), ("30-39", 0.2), ("40-100", 0.1)]));
    let outcome = trial.run(&Examples).unwrap();
    let mut cells = std::collections::BTreeMap::new();
    for example in examples(&outcome) {
        let position = position(&example);
        let bucket = (position.fullmoves().get() / 10).min(4);
        *cells.entry((bucket, position.turn().is_white())).or_insert(0) += 1;
    }
    let expected = [6, 6, 12, 12, 10, 10, 8, 8, 4, 4];
    assert_eq!(cells.values().copied().collect::<Vec<_>>(), expected, "{cells:?}");
    let counts = counts(&outcome);
    // The longest game has positions behind its hundredth move.
    assert!(counts["dropped"]["fullmove"].as_u64().unwrap() > 30, "{counts}");
    let sum: u64 = counts["dropped"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(sum + 80 + counts["not_drawn"].as_u64().unwrap(), counts["positions"].as_u64().unwrap());
}

#[test]
fn a_position_without_an_example_is_made_up_for() {
    let folder = tempdir().unwrap();
    // Of the short endings of lines some are no example; all that are wanted are built all the same.
    let run = |limit| {
        let trial = on_games(folder.path(), "best_line", 2, 300).with("depth", Value::Int(1));
        trial.with("limit", Value::Int(limit)).run(&Examples).unwrap()
    };
    let outcome = run(300);
    assert!(counts(&outcome)["dropped"]["no_line"].as_u64().unwrap() > 0);
    assert_eq!(examples(&outcome).len(), 300);
    let outcome = run(100_000);
    let found = examples(&outcome).len();
    let noted = outcome.events.iter().any(
        |event| matches!(event, Event::Note(note) if *note == format!("{found} of 100000 examples: there are not enough positions")),
    );
    assert!(noted, "{found}");
}

#[test]
fn another_seed_draws_others() {
    let folder = tempdir().unwrap();
    let run = |seed| {
        let trial =
            on_games(folder.path(), "factual", 2, 60).with("limit", Value::Int(10)).with("seed", Value::Int(seed));
        examples(&trial.run(&Examples).unwrap()).into_iter().map(|example| example.meta).collect::<Vec<_>>()
    };
    assert_ne!(run(1), run(2));
}

#[test]
fn a_range_without_a_position_is_named() {
    let folder = tempdir().unwrap();
    let trial = on_games(folder.path(), "factual", 2, 20).with("limit", Value::Int(10));
    let failure = trial.with("fullmoves", shares(&[("0-9", 0.5), ("40+", 0.5)])).run(&Examples).err().unwrap();
    assert_eq!(failure.message, "no position has a full-move number of `40+`");
    let trial = on_games(folder.path(), "factual", 2, 20).with("fullmoves", shares(&[("early", 0.5)]));
    let message = trial.run(&Examples).err().unwrap().message;
    assert_eq!(message, "parameter `fullmoves` has `early`: write full-move numbers as `10-19` or `40+`");
}

#[test]
fn without_a_limit_as_many_are_built_as_have_the_shares() {
    let folder = tempdir().unwrap();
    let trial = on_games(folder.path(), "factual", 1, 44).with("fullmoves", shares(&[("1-9", 0.25), ("10-29", 0.75)]));
    let found = examples(&trial.run(&Examples).unwrap());
    let early = found.iter().filter(|example| position(example).fullmoves().get() < 10).count();
    // Plies 18 to 44 are 27 positions.
    assert_eq!((early, found.len()), (9, 36));
}
