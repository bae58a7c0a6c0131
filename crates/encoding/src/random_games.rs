//! Games and labels made the slow way, for tests.

use proptest::prelude::*;
use shakmaty::fen::Fen;
use shakmaty::{Chess, EnPassantMode, Position};

use crate::{LABELS, PlainMove, START};

/// A choice among the legal moves, ply by ply.
pub fn choices(plies: usize) -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::vec(0..10_000usize, 0..plies)
}

/// The tokens and all positions of a game, until `choices` or the moves end.
///
/// Half of the time pawns, kings and captures come first, so that promotions, castling and en passant are not rare.
pub fn play(choices: &[usize]) -> (Vec<u16>, Vec<Chess>) {
    let mut position = Chess::default();
    let mut tokens = vec![START];
    let mut positions = vec![position.clone()];
    for choice in choices {
        let mut moves = position.legal_moves();
        if choice % 2 == 0 {
            let rare = |played: &shakmaty::Move| {
                played.is_promotion() || played.is_castle() || played.is_en_passant() || played.is_zeroing()
            };
            if moves.iter().any(rare) {
                moves.retain(|played| rare(played));
            }
        }
        if moves.is_empty() {
            break;
        }
        let played = moves[choice / 2 % moves.len()];
        position.play_unchecked(played);
        tokens.push(PlainMove::from(played).token());
        positions.push(position.clone());
    }
    (tokens, positions)
}

/// All positions of that game.
pub fn positions(choices: &[usize]) -> Vec<Chess> {
    play(choices).1
}

/// The labels as read from the position's FEN: shares nothing with the code under test.
pub fn labels_from_fen(position: &Chess, mode: EnPassantMode) -> [u8; LABELS] {
    let fen = Fen::from_position(position, mode).to_string();
    let fields: Vec<&str> = fen.split(' ').collect();
    let mut row = [0; LABELS];
    let mut label = 0;
    for letter in fields[0].chars().filter(|&letter| letter != '/') {
        if let Some(empty) = letter.to_digit(10) {
            label += empty as usize;
        } else {
            row[label] = ".PNBRQKpnbrqk".find(letter).unwrap() as u8;
            label += 1;
        }
    }
    assert_eq!(label, 64);
    row[64] = u8::from(fields[1] == "b");
    for (i, right) in ["K", "Q", "k", "q"].iter().enumerate() {
        row[65 + i] = u8::from(fields[2].contains(right));
    }
    if let [file, rank] = fields[3].as_bytes() {
        row[69] = file - b'a' + 1;
        row[70] = if *rank == b'3' { 1 } else { 2 };
    }
    for (at, field) in [(71, fields[4]), (73, fields[5])] {
        let number: usize = field.parse().unwrap();
        row[at] = (number / 256) as u8;
        row[at + 1] = (number % 256) as u8;
    }
    row
}
