//! Answers of `factual`, found again from the text of the question alone.

use shakmaty::uci::UciMove;
use shakmaty::{Board, Chess, Color, Move, Piece, Position, Role, Square};
use tempfile::tempdir;

use super::*;

fn role(word: &str) -> Role {
    let names = ["pawn", "knight", "bishop", "rook", "queen", "king"];
    Role::ALL[names.iter().position(|name| *name == word).unwrap()]
}

fn square(word: &str) -> Square {
    word.trim_end_matches('?').parse().unwrap()
}

/// The moves that take what stands on their target.
fn captures(position: &Chess) -> Vec<(Move, Piece)> {
    let board = position.board().clone();
    let moves = position.legal_moves();
    let taken = |played: &Move| {
        let castles = played.is_castle();
        board.piece_at(played.to()).filter(|_| !castles).map(|piece| (*played, piece))
    };
    moves.iter().filter_map(taken).collect()
}

fn material(board: &Board, color: Color) -> i32 {
    let worth = |role| match role {
        Role::Pawn => 100,
        Role::Knight => 320,
        Role::Bishop => 330,
        Role::Rook => 500,
        Role::Queen => 900,
        Role::King => 0,
    };
    board.clone().into_iter().filter(|(_, piece)| piece.color == color).map(|(_, piece)| worth(piece.role)).sum()
}

fn truth(position: &Chess, question: &str) -> String {
    let words: Vec<&str> = question.split(' ').collect();
    let yes = |yes| if yes { "Yes".to_owned() } else { "No".to_owned() };
    match *words {
        ["Is", "the", color, ..] => {
            let color = if color == "white" { Color::White } else { Color::Black };
            let board = position.board();
            let king = board.king_of(color).unwrap();
            yes(board.attacks_to(king, !color, board.occupied()).any())
        }
        ["Can", "you", "legally", "play", uci, ..] => yes(uci.parse::<UciMove>().unwrap().to_move(position).is_ok()),
        ["Can", "your", own, "take", "their", other, ..] => yes(captures(position)
            .iter()
            .any(|(played, taken)| played.role() == role(own) && taken.role == role(other))),
        ["What", "is", color, ..] => {
            let color = if color == "white's" { Color::White } else { Color::Black };
            (material(position.board(), color) - material(position.board(), !color)).to_string()
        }
        ["How", .., piece, "at", at] => {
            assert_eq!(position.board().role_at(square(at)), Some(role(piece)));
            position.legal_moves().iter().filter(|played| played.from() == Some(square(at))).count().to_string()
        }
        ["Which", .., piece, "on", at] => {
            assert_eq!(position.board().role_at(square(at)), Some(role(piece)));
            let found: Vec<Move> = captures(position).into_iter().map(|(played, _)| played).collect();
            let found: Vec<&Move> = found.iter().filter(|played| played.to() == square(at)).collect();
            assert_eq!(found.len(), 1, "{question}");
            found[0].from().unwrap().to_string()
        }
        _ => panic!("{question}"),
    }
}

#[test]
fn every_answer_is_true() {
    let folder = tempdir().unwrap();
    let mut compared = 0;
    for seed in 0..6 {
        let trial = on_games(folder.path(), "factual", 6, 300).with("seed", Value::Int(seed));
        let outcome = trial.with("board", text("visual")).run(&Examples).unwrap();
        for example in examples(&outcome) {
            let position = position(&example);
            let user = &example.messages[1].content;
            let (_, questions) = user.split_once("separate several answers by a space.\n").unwrap();
            let answers: Vec<&str> = example.target().split(' ').collect();
            assert_eq!(questions.lines().count(), answers.len());
            assert_eq!(example.meta.get("questions").and_then(serde_json::Value::as_u64), Some(answers.len() as u64));
            for (question, answer) in questions.lines().zip(answers) {
                assert_eq!(truth(&position, question), answer, "{question} {:?}", example.meta);
                compared += 1;
            }
        }
    }
    assert!(compared > 12_000, "{compared}");
}
