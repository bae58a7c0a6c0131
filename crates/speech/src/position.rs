//! Positions as words.

use cwm_questions::truth::chess_of_fen;
use shakmaty::{Chess, EnPassantMode, Position, Role, Square};

use crate::words;

/// The form in which a position is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PositionForm {
    /// 64 squares from a8 to h1, each with its piece or empty: always 67 words with side, castling rights and en passant file.
    Squares,
    /// The piece and the square of each man, the kings first, the others from a8 to h1: short where men are few.
    Pieces,
}

impl PositionForm {
    /// Both.
    pub const ALL: [PositionForm; 2] = [PositionForm::Squares, PositionForm::Pieces];

    /// Its name in pipelines and files.
    pub fn name(self) -> &'static str {
        match self {
            PositionForm::Squares => "squares",
            PositionForm::Pieces => "pieces",
        }
    }

    /// The form of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        PositionForm::ALL.into_iter().find(|form| form.name() == name)
    }

    /// The words of a position, behind which its side to move, its castling rights and the file of an en passant capture stand.
    pub(crate) fn words(self, position: &Chess) -> Vec<u16> {
        let board = position.board();
        let mut all = Vec::with_capacity(67);
        match self {
            PositionForm::Squares => all.extend(squares().map(|square| words::piece(board.piece_at(square)))),
            PositionForm::Pieces => {
                let mut men: Vec<_> = squares().filter_map(|square| Some((board.piece_at(square)?, square))).collect();
                men.sort_by_key(|(piece, _)| {
                    (piece.role != Role::King, piece.role == Role::King && piece.color.is_black())
                });
                all.extend(
                    men.into_iter().flat_map(|(piece, square)| [words::piece(Some(piece)), words::square(square)]),
                );
            }
        }
        all.push(words::side(position.turn()));
        all.push(words::castling(|color, side| position.castles().has(color, side)));
        all.push(words::en_passant(position.ep_square(EnPassantMode::Legal).map(Square::file)));
        all
    }
}

/// The position of a FEN.
pub(crate) fn position(fen: &str) -> Result<Chess, String> {
    chess_of_fen(fen).map(|(position, _)| position)
}

/// Returns the squares from a8 to h1.
fn squares() -> impl Iterator<Item = Square> {
    Square::ALL.into_iter().map(Square::flip_vertical)
}
