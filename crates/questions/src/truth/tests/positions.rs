//! Golden positions with every truth, and games to keep track of.

use std::collections::BTreeMap;

use cwm_encoding::EnPassant;
use serde::Deserialize;
use shakmaty::Square;

use crate::Task;
use crate::golden::lines;
use crate::truth::tests::entries;
use crate::truth::{Keys, Position, answer_in_position, fen_after, piece_name};

#[derive(Deserialize)]
struct Row {
    fen: String,
    piece_arrangement: String,
    legal_move_all: Vec<String>,
    legal_move_piece: BTreeMap<String, Vec<String>>,
    check_detection: Vec<String>,
    check_in_1: Vec<String>,
    squares: BTreeMap<String, Squares>,
    pin: Vec<String>,
    skewer: Vec<String>,
    fork: Vec<String>,
    battery: Vec<String>,
    sound_battery: Vec<String>,
    discovered_check: Vec<String>,
    sound_discovered_check: Vec<String>,
    double_check: Vec<String>,
    sound_double_check: Vec<String>,
}

#[derive(Deserialize)]
struct Squares {
    piece: String,
    capture: Vec<String>,
    control: Vec<String>,
    protect: Vec<String>,
    sound_capture: Option<Vec<String>>,
    sound_control: Option<Vec<String>>,
    sound_protect: Option<Vec<String>>,
}

#[test]
fn golden_positions_have_every_truth() {
    let Some(rows) = lines::<Row>("positions.jsonl") else { return };
    assert_eq!(rows.len(), 145);
    for row in rows {
        let position = Position::of_fen(&row.fen).unwrap();
        let truth = |task, square, keys| answer_in_position(task, &position, square, keys).unwrap();
        let check = |task: Task, square: Option<Square>, keys, expected: &[String]| {
            assert_eq!(truth(task, square, keys), expected.join(", "), "{task} {square:?} {keys:?} of {}", row.fen);
        };
        let check_set = |task: Task, keys, expected: &[String]| {
            let (found, expected) = (truth(task, None, keys), expected.join(", "));
            assert_eq!(entries(&found), entries(&expected), "{task} {keys:?} of {}", row.fen);
        };
        let published = Keys::Published;
        assert_eq!(position.fen(), row.fen);
        assert_eq!(truth(Task::PieceArrangement, None, published), row.piece_arrangement);
        check(Task::LegalMoveAll, None, published, &row.legal_move_all);
        check(Task::CheckDetection, None, published, &row.check_detection);
        check(Task::CheckIn1, None, published, &row.check_in_1);
        check(Task::Pin, None, published, &row.pin);
        check(Task::Skewer, None, published, &row.skewer);
        check(Task::Fork, None, published, &row.fork);
        check(Task::Battery, None, published, &row.battery);
        check(Task::Battery, None, Keys::Sound, &row.sound_battery);
        check_set(Task::DiscoveredCheck, published, &row.discovered_check);
        check_set(Task::DiscoveredCheck, Keys::Sound, &row.sound_discovered_check);
        check_set(Task::DoubleCheck, published, &row.double_check);
        check_set(Task::DoubleCheck, Keys::Sound, &row.sound_double_check);
        for square in Square::ALL {
            let moves = row.legal_move_piece.get(&square.to_string()).cloned().unwrap_or_default();
            check(Task::LegalMovePiece, Some(square), published, &moves);
        }
        for (name, squares) in &row.squares {
            let square: Square = name.parse().unwrap();
            assert_eq!(piece_name(position.board().piece_at(square).unwrap()), squares.piece);
            for (task, published, sound) in [
                (Task::CaptureSquares, &squares.capture, &squares.sound_capture),
                (Task::ControlSquares, &squares.control, &squares.sound_control),
                (Task::ProtectSquares, &squares.protect, &squares.sound_protect),
            ] {
                check(task, Some(square), Keys::Published, published);
                check(task, Some(square), Keys::Sound, sound.as_ref().unwrap_or(published));
            }
        }
    }
}

#[derive(Deserialize)]
struct Tracked {
    start: String,
    moves: Vec<String>,
    answer: String,
    always: String,
}

#[test]
fn golden_games_end_in_their_positions() {
    let Some(rows) = lines::<Tracked>("state-tracking.jsonl") else { return };
    assert_eq!(rows.len(), 98);
    for row in rows {
        let moves = row.moves.join(" ");
        assert_eq!(fen_after(&row.start, &moves, EnPassant::Legal).unwrap(), row.answer);
        assert_eq!(fen_after(&row.start, &moves, EnPassant::Always).unwrap(), row.always);
    }
}
