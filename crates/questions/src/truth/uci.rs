//! Moves and squares as text, in the order of texts.

use cwm_encoding::PlainMove;
use shakmaty::uci::UciMove;
use shakmaty::{Bitboard, Chess, Move, Square};

/// A move as UCI writes it: its letters from the highest byte on, so that numbers have the order of texts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Uci(u64);

impl Uci {
    /// The move with its promotion letter.
    pub(crate) fn of(played: Move) -> Uci {
        let plain = PlainMove::from(played);
        Uci::new(plain, plain.promotion.map_or(0, |role| role.char() as u8))
    }

    /// The move without its promotion letter.
    pub(crate) fn without_promotion(played: Move) -> Uci {
        Uci::new(PlainMove::from(played), 0)
    }

    fn new(plain: PlainMove, promotion: u8) -> Uci {
        let [a, b] = letters(plain.from);
        let [c, d] = letters(plain.to);
        Uci(u64::from_be_bytes([a, b, c, d, promotion, 0, 0, 0]))
    }
}

fn letters(square: Square) -> [u8; 2] {
    [square.file().char() as u8, square.rank().char() as u8]
}

/// The legal move that `uci` writes.
pub(crate) fn played(position: &Chess, uci: &str) -> Option<Move> {
    uci.parse::<UciMove>().ok()?.to_move(position).ok()
}

/// The moves, sorted and each once, with a comma and a space between them.
pub(crate) fn moves_text(mut moves: Vec<Uci>) -> String {
    moves.sort_unstable();
    moves.dedup();
    let mut text = String::with_capacity(moves.len() * 7);
    for Uci(letters) in moves {
        separate(&mut text, ", ");
        let letters = letters.to_be_bytes();
        let length = if letters[4] == 0 { 4 } else { 5 };
        text.extend(letters[..length].iter().map(|letter| char::from(*letter)));
    }
    text
}

/// The squares in the order of their names, with `separator` between them.
pub(crate) fn push_squares(text: &mut String, squares: Bitboard, separator: &str) {
    for (at, square) in by_name(squares).enumerate() {
        if at > 0 {
            text.push_str(separator);
        }
        push_square(text, square);
    }
}

/// The squares in the order of their names: a1, a2, … h8.
pub(crate) fn by_name(squares: Bitboard) -> impl Iterator<Item = Square> {
    squares.flip_diagonal().into_iter().map(Square::flip_diagonal)
}

/// Appends the name of a square.
pub(crate) fn push_square(text: &mut String, square: Square) {
    text.extend(letters(square).map(char::from));
}

/// Appends `separator` if there is something before it.
pub(crate) fn separate(text: &mut String, separator: &str) {
    if !text.is_empty() {
        text.push_str(separator);
    }
}
