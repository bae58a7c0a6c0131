//! The context of a prompt: facts about the position.

use shakmaty::{Piece, Square};

use super::PromptContext;
use crate::Task;
use crate::item::Item;
use crate::truth::{Keys, Position, answer_in_position, piece_name};

/// The lines of a context, with an empty line behind them; nothing without one.
///
/// # Errors
///
/// The item's input is no position.
pub fn context(item: &Item, context: PromptContext) -> Result<String, String> {
    if context == PromptContext::None {
        return Ok(String::new());
    }
    let position = Position::of_fen(&item.input)?;
    let mut lines = format!("Piece arrangement: {}\n", kinds(&position));
    if context == PromptContext::PiecesMoves {
        let moves = answer_in_position(Task::LegalMoveAll, &position, None, Keys::Published).unwrap_or_default();
        lines.push_str(&format!("Legal moves: {moves}\n"));
    }
    lines.push('\n');
    Ok(lines)
}

/// The kinds of pieces in the order in which they first stand on a1, b1, … h8, each with its squares in that order.
fn kinds(position: &Position) -> String {
    let mut kinds: Vec<(Piece, Vec<Square>)> = Vec::new();
    for (square, piece) in position.board() {
        match kinds.iter_mut().find(|(kind, _)| *kind == piece) {
            Some((_, squares)) => squares.push(square),
            None => kinds.push((piece, vec![square])),
        }
    }
    let text = |(piece, squares): (Piece, Vec<Square>)| {
        let squares: Vec<String> = squares.into_iter().map(|square| format!("'{square}'")).collect();
        format!("{}: [{}]", piece_name(piece), squares.join(", "))
    };
    kinds.into_iter().map(text).collect::<Vec<_>>().join(", ")
}
