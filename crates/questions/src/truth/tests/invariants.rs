//! Properties of any position, and the errors of bad ones.

use cwm_encoding::{EnPassant, LABELS};
use proptest::prelude::*;
use shakmaty::{Chess, Move, Position as _};

use crate::truth::uci::{Uci, moves_text};
use crate::truth::{Keys, Position, fen_after, key, legal, predicted_answer, predicted_position};
use crate::{Task, golden};

fn text(moves: Vec<Move>) -> String {
    moves_text(moves.into_iter().map(Uci::of).collect())
}

/// The moves that we find without shakmaty's rules are shakmaty's.
fn check_moves(position: &Chess) {
    let found = legal::legal_moves(position.board(), position.turn(), position.castles(), position.maybe_ep_square());
    assert_eq!(text(found), text(position.legal_moves().into_iter().collect()), "{position:?}");
}

#[test]
fn moves_of_golden_positions_are_shakmaty_s() {
    let Some(items) = golden::published() else { return };
    for item in items.iter().filter(|item| !item.input.contains('|')) {
        check_moves(&crate::truth::chess_of_fen(&item.input).unwrap().0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn moves_of_random_games_are_shakmaty_s(choices in proptest::collection::vec(any::<u16>(), 0..200)) {
        let mut position = Chess::default();
        for choice in choices {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position.play_unchecked(moves[usize::from(choice) % moves.len()]);
            check_moves(&position);
        }
    }

    /// No believed position makes an answer panic, and its FEN has six fields.
    #[test]
    fn any_belief_with_two_kings_has_answers(
        mut labels in proptest::collection::vec(prop_oneof![4 => Just(0u8), 1 => 1u8..6, 1 => 7u8..12], LABELS),
        kings in (0usize..32, 32usize..64),
        square in 0u32..64,
    ) {
        (labels[kings.0], labels[kings.1]) = (6, 12);
        let labels: [u8; LABELS] = labels.try_into().unwrap();
        let position = predicted_position(&labels).unwrap();
        for task in Task::all() {
            for keys in [Keys::Published, Keys::Sound] {
                let _ = predicted_answer(task, Some(shakmaty::Square::new(square)), &position, keys);
            }
        }
        prop_assert_eq!(position.fen().split(' ').count(), 6);
    }

    #[test]
    fn any_labels_are_taken(labels in proptest::collection::vec(any::<u8>(), LABELS)) {
        let labels: [u8; LABELS] = labels.try_into().unwrap();
        let _ = predicted_position(&labels);
    }

    #[test]
    fn a_label_that_is_no_class_is_no_position(square in 0usize..64, class in 13u8..) {
        let mut labels = [0; LABELS];
        (labels[square], labels[(square + 9) % 64], labels[(square + 19) % 64]) = (0, 6, 12);
        prop_assert!(predicted_position(&labels).is_some());
        labels[square] = class;
        prop_assert!(predicted_position(&labels).is_none());
    }
}

#[test]
fn bad_positions_and_moves_are_named() {
    let error = |fen| Position::of_fen(fen).unwrap_err();
    assert!(error("x").starts_with("\"x\" is no FEN"));
    assert!(error("8/8/8/8/8/8/8/K7 w - - 0 1").contains("is no position of a game"));
    assert!(crate::truth::chess_of_fen("4k3/8/8/8/8/8/8/K7 w KQ e3").unwrap().1);
    let start = "4k3/8/8/8/8/8/8/K7 w - - 0 1";
    assert_eq!(fen_after(start, "a1a2 e8e1", EnPassant::Legal).unwrap_err(), "move 2 of \"a1a2 e8e1\" is not legal");
}

#[test]
fn bad_items_are_named() {
    let Some(items) = golden::published() else { return };
    let message = |id: &str, edit: &dyn Fn(&mut crate::Item)| {
        let mut item = items.iter().find(|item| item.task_id == id).unwrap().clone();
        edit(&mut item);
        key(&item, Keys::Published).unwrap_err().message
    };
    let id = "structural_capture_squares_0000";
    assert_eq!(
        message(id, &|item| item.metadata.insert("target_square", "z9")),
        format!("{id}: the target_square \"z9\" of its metadata is no square")
    );
    let id = "position_judgement_neutral_0000";
    assert_eq!(
        message(id, &|item| item.metadata.insert("options", "x")),
        format!("{id}: its metadata has no options that are integers")
    );
    let id = "short_tactics_rating_expert_0000";
    assert_eq!(
        message(id, &|item| item.metadata.insert("pv", "e2e4")),
        format!("{id}: the line \"e2e4\" has no second move")
    );
}
