//! FENs of six fields.

use shakmaty::{Board, Color, Square};

use crate::reading::white_space::is_space;
use crate::truth::{Position, was_passed};

/// The FEN with one space between its fields, castling rights in their order, and an en passant square only where a capture is
/// legal.
pub fn fen(text: &str) -> Option<String> {
    let fields: Vec<&str> = text.split(is_space).filter(|field| !field.is_empty()).collect();
    let [board, turn @ ("w" | "b"), rights, en_passant, halfmoves, fullmoves] = fields[..] else { return None };
    let board = Board::from_ascii_board_fen(board.as_bytes()).ok()?;
    let (rights, halfmoves, fullmoves) = (castling_rights(rights)?, clock(halfmoves)?, clock(fullmoves)?);
    let en_passant = match en_passant {
        "-" => "-".to_owned(),
        place => legal_en_passant(&board, turn, place.parse().ok()?, &rights),
    };
    Some(format!("{board} {turn} {rights} {en_passant} {halfmoves} {fullmoves}"))
}

fn castling_rights(text: &str) -> Option<String> {
    if text == "-" {
        return Some(text.to_owned());
    }
    let given = "KQkq".chars().filter(|right| text.contains(*right));
    let given: String = given.collect();
    (!text.is_empty() && given.len() == text.len()).then_some(given)
}

fn clock(text: &str) -> Option<u32> {
    text.bytes().all(|digit| digit.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// The square, or `-` if nothing can capture there. A square that no double push leaves stays, and is wrong.
fn legal_en_passant(board: &Board, turn: &str, square: Square, rights: &str) -> String {
    let position = Position::of_fen(&format!("{board} {turn} {rights} {square} 0 1")).ok();
    let position = position.filter(|_| was_passed(board, Color::from_white(turn == "w"), square));
    let legal = position.and_then(|position| position.fen().split(' ').nth(3).map(str::to_owned));
    legal.unwrap_or_else(|| square.to_string())
}
