//! Invariants that hold for any games, and for games without classes.

use std::collections::{BTreeMap, BTreeSet};

use cwm_contract::Stage;
use cwm_contract::testing::probe;
use proptest::prelude::*;
use shakmaty::fen::Fen;
use shakmaty::{Chess, EnPassantMode, Position};

use super::*;
use crate::probe::games_with_transpositions;

/// Classes by their keys as text, by no code of the product.
fn expected(
    games: &[Vec<PlainMove>],
    fields: usize,
    plies: std::ops::RangeInclusive<usize>,
) -> BTreeMap<String, Vec<(u32, u32)>> {
    let (mut seen, mut classes) = (BTreeSet::new(), BTreeMap::<_, Vec<_>>::new());
    for (number, game) in (0..).zip(games) {
        let mut position = Chess::default();
        for (ply, &plain) in (1..).zip(game) {
            let played = position.legal_moves().into_iter().find(|&legal| PlainMove::from(legal) == plain).unwrap();
            position.play_unchecked(played);
            let sequence: Vec<u16> = game[..ply].iter().map(|plain| plain.token()).collect();
            if plies.contains(&ply) && seen.insert(sequence) {
                let fen = Fen::from_position(&position, EnPassantMode::Legal).to_string();
                let key = fen.split(' ').take(fields).collect::<Vec<_>>().join(" ");
                classes.entry(key).or_default().push((number, ply as u32));
            }
        }
    }
    classes.retain(|_, members| members.len() > 1);
    classes
}

fn found(rows: &[Transposition]) -> BTreeMap<String, Vec<(u32, u32)>> {
    let mut classes = BTreeMap::<_, Vec<_>>::new();
    for row in rows {
        classes.entry(row.key.clone()).or_default().push((row.game, row.ply));
    }
    classes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn classes_are_those_of_keys_as_text(order in Just(games_with_transpositions()).prop_shuffle(), min in 1usize..5, more in 0usize..30) {
        let bench = Bench::new(&order);
        for (same, fields) in [("position", 4), ("placement", 1)] {
            let plies = [("min_plies", Value::Int(min as i128)), ("max_plies", Value::Int((min + more) as i128))];
            let expected = expected(&order, fields, min..=min + more);
            match bench.run_on(&[&plies[..], &[("same", text(same)), ("members", Value::Int(1_000))]].concat(), 2) {
                Ok(outcome) => prop_assert_eq!(found(&read(&outcome).1), expected),
                Err(failure) => prop_assert!(expected.is_empty(), "{}", failure.message),
            }
        }
    }
}

#[test]
fn the_first_members_of_drawn_classes_are_written() {
    let games = games_with_transpositions();
    let bench = Bench::new(&games);
    let whole = found(&read(&bench.run(&[("members", Value::Int(1_000))])).1);
    let some = |seed| bench.run(&[("members", Value::Int(2)), ("classes", Value::Int(5)), ("seed", Value::Int(seed))]);
    let (of, rows) = read(&some(1));
    assert_eq!((of.classes, of.members, of.plies), (whole.len() as u64, 2, Some([2, 60])));
    let drawn = found(&rows);
    assert_eq!((drawn.len(), rows.len(), rows[9].class), (5, 10, 4));
    assert!(drawn.iter().all(|(key, members)| members[..] == whole[key][..2]));
    assert!(rows.is_sorted_by_key(|row| (&row.key, row.class, row.game, row.ply)));
    assert_eq!(read(&some(1)).1, rows);
    assert_ne!(read(&some(2)).1, rows);
    let outcome = bench.run_on(&[], 1).unwrap();
    let counts = std::fs::read_to_string(&outcome.outputs["counts"]).unwrap();
    assert!(
        counts.contains("\"dropped\":{\"other_rules\":0}") && counts.contains("\"stage\":\"transpositions\""),
        "{counts}"
    );
    let one = bytes(&outcome.outputs["transpositions"]);
    assert!(one == bytes(&bench.run(&[]).outputs["transpositions"]));
}

#[test]
fn games_without_classes_and_wrong_games_are_errors_in_words() {
    let games = sample::games();
    let refused = |games: &[Vec<PlainMove>], more: &[(&str, Value)]| {
        Bench::new(games).run_on(more, 2).err().expect("a failure").message
    };
    let message = refused(&games[4..5], &[("max_plies", Value::Int(4))]);
    assert_eq!(message, "no two of 3 sequences of moves end in the same position");
    assert!(refused(&[Vec::new()], &[("sequences", text("ends"))]).starts_with("no two of 0 sequences"));
    let mut wrong = games[..2].to_vec();
    wrong[1][3] = wrong[1][0];
    let message = refused(&wrong, &[]);
    assert!(
        message.starts_with("game 1 (\"sample_0001\"): token") && message.ends_with("at ply 4 is not a legal move")
    );
    let message = refused(&games, &[("min_plies", Value::Int(9)), ("max_plies", Value::Int(8))]);
    assert_eq!(message, "parameter `min_plies` must be at most `max_plies`, 8, not 9");
}

#[test]
fn the_probe_has_classes_and_is_the_same_twice() {
    let probe = |same: &str| {
        let values = [("same".to_owned(), text(same)), ("sequences".to_owned(), text("ends"))].into();
        probe(&Transpositions, values, tempdir().unwrap().path()).unwrap().unwrap()
    };
    let probed = probe("position");
    assert!(probed.contains_key("run/transpositions"), "{:?}", probed.keys());
    assert!(probe("position") == probed && probe("placement") != probed);
    let defaults =
        Transpositions.parameters().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?)));
    let ends = defaults.chain([("sequences".to_owned(), text("ends"))]).collect();
    assert_eq!(Transpositions.unused_parameters(&ends), ["min_plies", "max_plies"]);
}
