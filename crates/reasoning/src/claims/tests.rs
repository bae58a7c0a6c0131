use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;

use super::*;
use crate::golden;

#[derive(Deserialize)]
struct Golden {
    position: usize,
    text: String,
    moves: Vec<(String, bool)>,
    pieces: Vec<Value>,
}

#[test]
fn golden_claims() {
    let (Some(fens), Some(rows)) = (golden::fens(), golden::lines::<Golden>("claims.jsonl")) else { return };
    assert!(!rows.is_empty());
    for row in rows {
        let found = claims(&golden::position(&fens[row.position]), &row.text, ClaimRule::Position);
        let moves: Vec<(String, bool)> = found.moves.iter().map(|claim| (claim.uci.clone(), claim.is_true)).collect();
        assert_eq!(moves, row.moves, "{} {:?}", row.position, row.text);
        let piece = |claim: &PieceClaim| {
            let color = claim.color.map(crate::pieces::color_word);
            serde_json::json!([
                color,
                cwm_questions::truth::role_name(claim.role),
                claim.square.to_string(),
                claim.is_true
            ])
        };
        let pieces: Vec<Value> = found.pieces.iter().map(piece).collect();
        assert_eq!(pieces, row.pieces, "{} {:?}", row.position, row.text);
    }
}

fn moves(text: &str, rule: ClaimRule) -> Vec<(String, bool)> {
    let claims = claims(&Chess::default(), text, rule);
    claims.moves.into_iter().map(|claim| (claim.uci, claim.is_true)).collect()
}

#[test]
fn a_line_is_replayed_within_its_sentence() {
    let truths = |text: &str| moves(text, ClaimRule::Line).into_iter().map(|(_, is_true)| is_true).collect::<Vec<_>>();
    assert_eq!(truths("After e2e4 e7e5 g1f3 I attack. Then b8c6 defends."), [true, true, true, false]);
    assert_eq!(truths("1. e2e4 e7e5 2. g1f3 b8c6"), [true; 4]);
    // A full stop ends a sentence before white space alone.
    assert_eq!(truths("1.e2e4...e7e5 2.g1f3.b8c6"), [true; 4]);
    assert_eq!(truths("e2e4 is 1st. e7e5"), [true, false]);
    assert_eq!(truths("e2e4\ne7e5"), [true, false]);
    // An illegal move ends a line, and a legal one begins another.
    assert_eq!(truths("e2e4 e7e4 e7e5 d2d4 d7d5"), [true, false, false, true, true]);
    // Another first move.
    assert_eq!(truths("e2e4 or d2d4, then d7d5"), [true, true, true]);
    let rule: Vec<bool> = moves("e2e4 e7e5", ClaimRule::Position).into_iter().map(|(_, is_true)| is_true).collect();
    assert_eq!(rule, [true, false]);
}

/// shakmaty reads `e1h1` as castling, too.
#[test]
fn castling_is_the_kings_move() {
    let position = golden::position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    for rule in ClaimRule::ALL {
        let found = claims(&position, "e1h1. e1a1. e1g1. e1c1. a1e1.", rule);
        let truths: Vec<bool> = found.moves.iter().map(|claim| claim.is_true).collect();
        assert_eq!(truths, [false, false, true, true, false], "{rule:?}");
    }
    let line = claims(&position, "e1g1 e8h8, e1g1 e8c8", ClaimRule::Line);
    assert_eq!(line.moves.iter().map(|claim| claim.is_true).collect::<Vec<_>>(), [true, false, true, true]);
}

#[test]
fn lines_that_draw_a_board_claim_nothing() {
    let count = |line: &str| {
        let found = claims(&Chess::default(), line, ClaimRule::Position);
        (found.moves.len(), found.pieces.len())
    };
    for rank in 0..10 {
        let expected = if (1..=8).contains(&rank) { (0, 0) } else { (1, 1) };
        for line in [format!("{rank}| e2e4 pawn on e2"), format!(" \t{rank} | e2e4 pawn on e2\n")] {
            assert_eq!(count(&line), expected, "{line:?}");
        }
    }
    assert_eq!(count("8| e2e4\ne2e4 8| pawn on e2"), (1, 1));
    assert_eq!(count("8 e2e4 | pawn on e2"), (1, 1));
}

/// One megabyte of the same is read in a time that grows with its length.
#[test]
fn hostile_texts_are_read_in_linear_time() {
    let million = |part: &str| part.repeat(1_000_000 / part.len());
    for text in [
        million("e2e4 e7e5 "),
        million("a1"),
        million("1. "),
        million("pawn on e2 "),
        million("pawn on "),
        million("opponent's's "),
        million("8|\n"),
        million("<answer>"),
        million(" ") + "e2",
        million("\n") + "| pawn" + &million(" ") + "on" + &million("\t") + "e2",
        "1".to_owned() + &million(" ") + "|",
    ] {
        let start = Instant::now();
        for rule in ClaimRule::ALL {
            claims(&Chess::default(), &text, rule);
        }
        // Without optimisation on a busy machine; a time that grows with the square of the length is hours.
        let taken = start.elapsed();
        assert!(taken < Duration::from_secs(60), "{taken:?}: {:?}", &text[..8]);
    }
}

#[test]
fn answers_follow_from_claims() {
    let claims = claims(&Chess::default(), "e2e4 or d2d4 <answer>e2e4</answer>", ClaimRule::Position);
    let read = |uci: &str| Some(ReadAnswer::Move(uci.to_owned()));
    assert_eq!((claims.grounded(read("e2e4").as_ref()), claims.last(read("e2e4").as_ref())), (Some(true), Some(false)));
    assert_eq!((claims.grounded(read("d2d4").as_ref()), claims.last(read("d2d4").as_ref())), (Some(true), Some(true)));
    assert_eq!(claims.grounded(read("c2c4").as_ref()), Some(false));
    assert_eq!((claims.grounded(None), claims.last(None)), (None, None));
    assert_eq!(claims.grounded(Some(&ReadAnswer::Moves(vec!["e2e4".into()]))), None);
}

#[test]
fn bytes_are_those_of_the_text() {
    let text = "8| r . .\nMy ’knight’ is the white knight on g1: g1-f3, é.\n7| p\nthe pawn\n6| . .\nAT e2 <answer>";
    let claims = claims(&Chess::default(), text, ClaimRule::Position);
    let named: Vec<&str> = claims.pieces.iter().map(|claim| &text[claim.bytes.clone()]).collect();
    assert_eq!(named, ["white knight on g1", "pawn\n6| . .\nAT e2"]);
    assert_eq!(claims.moves.iter().map(|claim| &text[claim.bytes.clone()]).collect::<Vec<_>>(), ["g1-f3"]);
    assert!(claims.pieces.iter().all(|claim| claim.is_true) && claims.moves[0].is_true);
}

proptest! {
    #[test]
    fn no_text_panics(text in r"([a-h][1-8]|[-x=qQ.!?|é’' \n]|pawn|my|opponent's|white| on | at |1\.|<answer>|\PC){0,60}") {
        for rule in ClaimRule::ALL {
            let found = claims(&Chess::default(), &text, rule);
            prop_assert!(found.moves.iter().all(|claim| text.get(claim.bytes.clone()).is_some()));
            prop_assert!(found.pieces.iter().all(|claim| text.get(claim.bytes.clone()).is_some()));
        }
    }

    /// A claim that is true by the position is true by the line.
    #[test]
    fn the_line_only_adds_true_claims(text in "([a-h][1-8][a-h][1-8][ .\n]){0,12}") {
        let by = |rule| moves(&text, rule);
        let (position, line) = (by(ClaimRule::Position), by(ClaimRule::Line));
        prop_assert_eq!(position.len(), line.len());
        prop_assert!(position.iter().zip(&line).all(|((_, position), (_, line))| *line || !position));
    }
}
