//! Answers from a board that a world model believes in.

use std::num::NonZeroU32;

use cwm_encoding::{GROUPS, LABELS};
use shakmaty::{Color, File, Piece, Rank, Role, Setup, Square};

use crate::Task;
use crate::truth::position::Position;
use crate::truth::{Keys, answer_in_position};

/// The position that 75 labels stand for (`cwm_encoding::GROUPS`); none if a side does not have exactly one king, or the
/// label of a square is no class.
pub fn predicted_position(labels: &[u8; LABELS]) -> Option<Position> {
    let first = |group: usize| &labels[GROUPS[group].first..];
    let mut setup = Setup::empty();
    for (at, &class) in first(0)[..64].iter().enumerate() {
        // Squares come from a8 to h1.
        let square = Square::new(at as u32 ^ 56);
        if let Some(piece) = usize::from(class).checked_sub(1) {
            let (color, role) = if piece < 6 { (Color::White, piece) } else { (Color::Black, piece - 6) };
            setup.board.set_piece_at(square, Piece { color, role: *Role::ALL.get(role)? });
        }
    }
    setup.turn = Color::from_white(first(1)[0] == 0);
    let rooks = [Square::H1, Square::A1, Square::H8, Square::A8];
    let rights = rooks.into_iter().zip(first(2)).filter(|(_, right)| **right == 1);
    setup.castling_rights = rights.map(|(rook, _)| rook).collect();
    setup.ep_square = en_passant(first(3)[0], first(4)[0]);
    let clock = |bytes: &[u8]| u32::from(bytes[0]) << 8 | u32::from(bytes[1]);
    setup.halfmoves = clock(first(5));
    setup.fullmoves = NonZeroU32::new(clock(first(6))).unwrap_or(NonZeroU32::MIN);
    Position::of_setup(setup)
}

/// Files from 1; rank 1 is the third, 2 the sixth; 0 is none.
fn en_passant(file: u8, rank: u8) -> Option<Square> {
    let file = File::ALL.get(usize::from(file.checked_sub(1)?))?;
    let rank = [Rank::Third, Rank::Sixth].get(usize::from(rank.checked_sub(1)?)).copied()?;
    Some(Square::from_coords(*file, rank))
}

/// The answer to a Structural task or Motif as it follows from a predicted position, by these keys: an empty list is `none`. None
/// for other tasks, and for tasks about a square without one.
pub fn predicted_answer(task: Task, square: Option<Square>, position: &Position, keys: Keys) -> Option<String> {
    let answer = match task {
        Task::StateTrackingShort | Task::StateTrackingMid | Task::StateTrackingLong => position.fen(),
        _ => answer_in_position(task, position, square, keys)?,
    };
    Some(if answer.is_empty() { "none".to_owned() } else { answer })
}
