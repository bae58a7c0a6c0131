//! Answers from boards that a model believes in.

use std::collections::BTreeMap;

use cwm_encoding::{EnPassant, LABELS, labels_of};
use serde::Deserialize;
use shakmaty::fen::Fen;
use shakmaty::{Setup, Square};

use crate::golden::{lines, published};
use crate::truth::chess_of_fen;
use crate::truth::tests::entries;
use crate::truth::{Keys, Position, answer_in_position, key, predicted_answer, predicted_position, target_square};
use crate::{Category, Task};

#[derive(Deserialize)]
struct Row {
    fen: String,
    square: String,
    believed: String,
    answers: Option<BTreeMap<String, String>>,
    correct: BTreeMap<String, bool>,
}

/// The labels of any setup, written apart from what is tested.
fn labels(setup: &Setup) -> [u8; LABELS] {
    let mut labels = [0; LABELS];
    for (square, piece) in setup.board.iter() {
        let at = 8 * (7 - square.rank() as usize) + square.file() as usize;
        labels[at] = ".PNBRQKpnbrqk".find(piece.char()).unwrap() as u8;
    }
    labels[64] = u8::from(setup.turn.is_black());
    for (at, rook) in [Square::H1, Square::A1, Square::H8, Square::A8].into_iter().enumerate() {
        labels[65 + at] = u8::from(setup.castling_rights.contains(rook));
    }
    if let Some(square) = setup.ep_square {
        labels[69] = square.file() as u8 + 1;
        labels[70] = if square.rank() as u8 == 2 { 1 } else { 2 };
    }
    labels[72] = setup.halfmoves as u8;
    labels[74] = setup.fullmoves.get() as u8;
    labels
}

#[test]
fn golden_beliefs_have_their_answers_and_verdicts() {
    let Some(rows) = lines::<Row>("beliefs.jsonl") else { return };
    assert_eq!(rows.len(), 57);
    for row in rows {
        let square = Some(row.square.parse().unwrap());
        let setup = row.believed.parse::<Fen>().unwrap().into_setup();
        let believed = predicted_position(&labels(&setup));
        let answers = row.answers.unwrap_or_default();
        assert_eq!(believed.is_some(), !answers.is_empty(), "{}", row.believed);
        if let Some(believed) = &believed {
            assert_eq!(answers.len(), 14);
            for (task, expected) in answers {
                let found = predicted_answer(Task::of_name(&task).unwrap(), square, believed, Keys::Published).unwrap();
                assert_eq!(found, expected, "{task} of {}", row.believed);
            }
        }
        let truth = Position::of_fen(&row.fen).unwrap();
        for (task, expected) in row.correct {
            let task = Task::of_name(&task).unwrap();
            let key = answer_in_position(task, &truth, square, Keys::Published).unwrap();
            let answer =
                believed.as_ref().and_then(|believed| predicted_answer(task, square, believed, Keys::Published));
            let is_correct = answer.is_some_and(|answer| entries(&answer) == entries(&key));
            assert_eq!(is_correct, expected, "{task} of {}", row.fen);
        }
    }
}

#[test]
fn who_believes_the_truth_answers_every_item_right() {
    let Some(items) = published() else { return };
    let mut answered = 0;
    for item in items {
        let task = item.task().unwrap();
        if !matches!(task.category(), Category::Structural | Category::Motifs) {
            continue;
        }
        for keys in [Keys::Published, Keys::Sound] {
            let key = key(&item, keys).unwrap().unwrap();
            let fen = if item.input.contains('|') { &key } else { &item.input };
            let labels = labels_of(&chess_of_fen(fen).unwrap().0, EnPassant::Always);
            let believed = predicted_position(&labels).unwrap();
            let answer = predicted_answer(task, target_square(&item).unwrap(), &believed, keys);
            let key = if key.is_empty() { "none" } else { key.as_str() };
            assert_eq!(answer.as_deref(), Some(key), "{}", item.task_id);
        }
        answered += 1;
    }
    assert_eq!(answered, 1_700);
}
