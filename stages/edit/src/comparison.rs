//! The square that is edited, and how an answer is compared with the boards before and after.

use cwm_contract::Failure;
use cwm_encoding::{EnPassant, LABELS, classes, first_logit, labels_of};
use cwm_inside::ModelTask;
use cwm_policy::inputs::words::square_of;
use cwm_policy::origins::{LegalWords, WordSet, origins_without};
use shakmaty::{Piece, Position, Role, Square};

use crate::cases::{Case, Reason};
use crate::row::EditRow;

/// First label of the castling rights: of the rooks h1, a1, h8, a8.
const CASTLING: usize = 65;

/// A square with a piece, and the boards with and without it.
#[derive(Clone, Debug)]
pub struct BoardComparison {
    /// The square.
    pub square: Square,
    /// The piece on it.
    pub piece: Piece,
    boards: Boards,
}

#[derive(Clone, Debug)]
enum Boards {
    /// Words that begin a legal move on each board, and the likeliest word without an edit.
    Moves { original: WordSet, target: WordSet, future: WordSet, argmax: u8 },
    /// Labels of both boards.
    State { original: [u8; LABELS], target: [u8; LABELS] },
}

impl BoardComparison {
    /// The square of a case: the origin that a model of moves expects by its logits, or that of the move that was played, for a
    /// model that answers with boards.
    ///
    /// # Errors
    /// The reason why the case is dropped.
    pub fn of(task: ModelTask, case: &Case, logits: &[f32]) -> Result<Self, Reason> {
        let argmax = argmax(logits);
        let square = match task {
            ModelTask::Moves => square_of(argmax as u16).ok_or(Reason::NoSquare)?,
            ModelTask::State => case.played,
        };
        let piece = case.position.board().piece_at(square).ok_or(Reason::EmptySquare)?;
        if piece.role == Role::King {
            return Err(Reason::King);
        }
        let boards = match task {
            ModelTask::Moves => Boards::Moves {
                original: LegalWords::of(&case.position).origins(),
                target: origins_without(&case.position, square),
                future: LegalWords::of(&case.future).origins(),
                argmax: argmax as u8,
            },
            ModelTask::State => {
                let original = labels_of(&case.position, EnPassant::Always);
                let mut target = original;
                target[label_of(square)] = 0;
                // The piece is of the side to move, so that it is no pawn that may be taken en passant.
                for (right, rook) in [Square::H1, Square::A1, Square::H8, Square::A8].into_iter().enumerate() {
                    if rook == square {
                        target[CASTLING + right] = 0;
                    }
                }
                Boards::State { original, target }
            }
        };
        Ok(BoardComparison { square, piece, boards })
    }

    /// Fills in the fields of `row` that depend on the model's logits.
    pub fn fill_row(&self, row: EditRow, logits: &[f32]) -> EditRow {
        match &self.boards {
            Boards::Moves { original, target, future, argmax } => {
                let found = self::argmax(logits) as u8;
                EditRow {
                    argmax: Some(found),
                    same_argmax: Some(found == *argmax),
                    mass_original: Some(original.mass(logits)),
                    mass_target: Some(target.mass(logits)),
                    mass_future: Some(future.mass(logits)),
                    mass_both: Some(original.intersection(*target).mass(logits)),
                    target_moves: Some(target.iter().count() as u8),
                    ..row
                }
            }
            Boards::State { original, target } => {
                let read: [u8; LABELS] = std::array::from_fn(|label| {
                    let first = first_logit(label);
                    self::argmax(&logits[first..first + classes(label)]) as u8
                });
                let right = |board: &[u8; LABELS], counts: &dyn Fn(usize) -> bool| {
                    (0..LABELS).filter(|&label| counts(label) && read[label] == board[label]).count() as u8
                };
                EditRow {
                    right_target: Some(right(target, &|_| true)),
                    right_original: Some(right(original, &|_| true)),
                    right_others: Some(right(original, &|label| original[label] == target[label])),
                    others: Some(original.iter().zip(target).filter(|(one, two)| one == two).count() as u8),
                    square_empty: Some(read[label_of(self.square)] == 0),
                    ..row
                }
            }
        }
    }
}

/// Checks that the logits of an edit by this vector (empty without an edit) are finite, and that the model's norms can
/// square it: without that no mass is known. `at` returns the place for the error.
///
/// # Errors
/// A logit, or the square of the vector's length, is not finite.
pub fn check_finite(vector: &[f32], logits: &[f32], at: impl FnOnce() -> String) -> Result<(), Failure> {
    let wrong = if !vector.iter().map(|value| value * value).sum::<f32>().is_finite() {
        "the square of the vector's length is not finite"
    } else if logits.iter().any(|logit| !logit.is_finite()) {
        "the model's logits are not finite"
    } else {
        return Ok(());
    };
    Err(Failure::input(format!("{}: {wrong}", at())).hint("a smaller `eta` changes the stream less"))
}

/// The place of the largest logit; of equals the first.
fn argmax(logits: &[f32]) -> usize {
    (0..logits.len())
        .rev()
        .fold(logits.len().saturating_sub(1), |best, at| if logits[at] >= logits[best] { at } else { best })
}

/// The label of a square: a8 first, h1 last.
pub fn label_of(square: Square) -> usize {
    square.to_usize() ^ 56
}

/// The letters of the classes of a square.
pub const PIECES: &[u8; 13] = b".PNBRQKpnbrqk";

/// The piece of a class in [`PIECES`]; none of 0.
pub fn piece_of(class: u8) -> Option<Piece> {
    Piece::from_char(char::from(PIECES[usize::from(class)]))
}

/// The class of a piece in [`PIECES`].
pub fn class_of(piece: Piece) -> u8 {
    piece.role as u8 + if piece.color.is_black() { 6 } else { 0 }
}
