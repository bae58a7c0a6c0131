//! A position as 77 characters: ChessBench's tokens of a FEN, which have the same width for every position.
//!
//! Side to move; 64 squares from a8 to h1; castling, four characters; en passant square, two; half-move clock and number of the
//! move, three each. What is shorter is filled with `.` on the right.

use shakmaty::fen::{Fen, ParseFenError};
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Piece, PositionError, Role, Square};
use thiserror::Error;

/// The characters by id: digits, then letters of squares, pieces, castling and sides, then the filler.
pub const SYMBOLS: &str = "0123456789abcdefghpnrkqPBNRQKw.";

/// Characters of a position.
pub const LENGTH: usize = 77;

const FILLER: u8 = b'.';

/// The first character of each part.
const SQUARES: usize = 1;
const CASTLING: usize = SQUARES + 64;
const EN_PASSANT: usize = CASTLING + 4;
const HALFMOVES: usize = EN_PASSANT + 2;
const FULLMOVES: usize = HALFMOVES + 3;

/// A FEN that has no such form.
#[derive(Debug, Error)]
pub enum BoardError {
    /// Not a FEN.
    #[error("not a FEN: {0}")]
    Syntax(#[from] ParseFenError),
    /// Fields are missing, or there are more.
    #[error("a FEN has six fields, and this has {0}")]
    Fields(usize),
    /// No position of chess.
    #[error("not a position of chess: {0}")]
    Position(#[source] Box<PositionError<Chess>>),
    /// A number of more than three digits.
    #[error("the {name} is {value}, and 999 is the most")]
    Number {
        /// The field.
        name: &'static str,
        /// Its value.
        value: u32,
    },
}

/// A position and the FEN that states it.
///
/// Fields that no rule of chess fixes are taken as they are written: an en passant square without a capture, for
/// instance.
#[derive(Clone, Debug)]
pub struct Board {
    fen: Fen,
    position: Chess,
}

impl Board {
    /// Reads a FEN of six fields.
    ///
    /// # Errors
    /// The text is no FEN, no position of chess (castling of Chess960 among these), or has numbers above 999.
    pub fn parse(text: &str) -> Result<Self, BoardError> {
        let fields = text.split_ascii_whitespace().count();
        let fen: Fen = text.parse()?;
        if fields != 6 {
            return Err(BoardError::Fields(fields));
        }
        let setup = fen.as_setup();
        let numbers = [("half-move clock", setup.halfmoves), ("number of the move", u32::from(setup.fullmoves))];
        if let Some(&(name, value)) = numbers.iter().find(|(_, value)| *value > 999) {
            return Err(BoardError::Number { name, value });
        }
        let position =
            fen.clone().into_position(CastlingMode::Standard).map_err(|error| BoardError::Position(Box::new(error)))?;
        Ok(Board { fen, position })
    }

    /// The board of a position, with an en passant square only where a capture is legal.
    ///
    /// # Errors
    /// A number above 999.
    pub fn of(position: &Chess) -> Result<Self, BoardError> {
        Board::parse(&Fen::from_position(position, EnPassantMode::Legal).to_string())
    }

    /// The position.
    pub fn position(&self) -> &Chess {
        &self.position
    }

    /// The 77 characters.
    pub fn text(&self) -> String {
        self.ids().into_iter().map(|id| char::from(SYMBOLS.as_bytes()[usize::from(id)])).collect()
    }

    /// The ids of the characters.
    pub fn ids(&self) -> [u8; LENGTH] {
        let setup = self.fen.as_setup();
        let mut ids = [id(FILLER); LENGTH];
        ids[0] = id(setup.turn.char() as u8);
        // By pieces, which is faster than by squares.
        for (role, color) in Role::ALL.into_iter().flat_map(|role| Color::ALL.map(|color| (role, color))) {
            let piece = Piece { color, role };
            for square in setup.board.by_piece(piece) {
                ids[SQUARES + usize::from(square.flip_vertical())] = id(piece.char() as u8);
            }
        }
        let castling = [(Square::H1, b'K'), (Square::A1, b'Q'), (Square::H8, b'k'), (Square::A8, b'q')];
        let has = castling.into_iter().filter(|(rook, _)| setup.castling_rights.contains(*rook));
        ids[CASTLING..EN_PASSANT].iter_mut().zip(has).for_each(|(place, (_, letter))| *place = id(letter));
        if let Some(square) = setup.ep_square {
            ids[EN_PASSANT] = id(square.file().char() as u8);
            ids[EN_PASSANT + 1] = id(square.rank().char() as u8);
        }
        write_number(&mut ids[HALFMOVES..FULLMOVES], setup.halfmoves);
        write_number(&mut ids[FULLMOVES..], u32::from(setup.fullmoves));
        ids
    }
}

/// Writes the ids of a number of at most three digits.
fn write_number(ids: &mut [u8], number: u32) {
    let digits = 1 + usize::from(number > 9) + usize::from(number > 99);
    let mut rest = number;
    for place in ids[..digits].iter_mut().rev() {
        *place = id(b'0' + (rest % 10) as u8);
        rest /= 10;
    }
}

/// The id of one of [`SYMBOLS`].
fn id(symbol: u8) -> u8 {
    IDS[usize::from(symbol)]
}

/// The id of each character of [`SYMBOLS`] by its ASCII code.
const IDS: [u8; 128] = {
    let (mut ids, symbols, mut id) = ([0; 128], SYMBOLS.as_bytes(), 0);
    while id < symbols.len() {
        ids[symbols[id] as usize] = id as u8;
        id += 1;
    }
    ids
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shakmaty::Position;

    use super::*;
    use crate::golden;

    /// A FEN from 77 characters, by no code of the product.
    fn fen_of(ids: &[u8]) -> String {
        let text: String = ids.iter().map(|&id| SYMBOLS.as_bytes()[usize::from(id)] as char).collect();
        let mut ranks = Vec::new();
        for rank in text.as_bytes()[1..65].chunks(8) {
            let mut out = String::new();
            let mut empty = 0;
            for &c in rank {
                if c == b'.' {
                    empty += 1;
                    continue;
                }
                if empty > 0 {
                    out += &empty.to_string();
                }
                empty = 0;
                out.push(c as char);
            }
            if empty > 0 {
                out += &empty.to_string();
            }
            ranks.push(out);
        }
        let field = |range: std::ops::Range<usize>| {
            let field = text[range].trim_end_matches('.');
            if field.is_empty() { "-" } else { field }.to_owned()
        };
        [&text[..1], &field(65..69), &field(69..71), &field(71..74), &field(74..77)]
            .iter()
            .fold(ranks.join("/"), |fen, field| format!("{fen} {field}"))
    }

    #[test]
    fn golden_positions_have_golden_ids() {
        for position in golden::positions() {
            let board = Board::parse(&position.fen).unwrap();
            assert_eq!(board.ids()[..], position.board, "{}", position.fen);
            assert_eq!(fen_of(&board.ids()), position.fen);
        }
    }

    #[test]
    fn what_is_no_position_is_an_error_in_words() {
        let message = |fen: &str| Board::parse(fen).unwrap_err().to_string();
        assert_eq!(message("4k3/8/8/8/8/8/8/4K3 w - -"), "a FEN has six fields, and this has 4");
        assert_eq!(message("4k3/8/8/8/8/8/8/4K3 w - - 1000 1"), "the half-move clock is 1000, and 999 is the most");
        assert_eq!(message("4k3/8/8/8/8/8/8/4K3 w - - 0 1000"), "the number of the move is 1000, and 999 is the most");
        assert!(message("8/8/8/8/8/8/8/4K3 w - - 0 1").starts_with("not a position of chess"));
        assert!(message("4k3/8/8/8/8/8/8/1R2K3 w B - 0 1").starts_with("not a position of chess"));
        assert!(message("4k3/8/8/8/8/8/4K3 w - - 0 1").starts_with("not a FEN"));
        assert!(message("").starts_with("not a FEN"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn ids_of_random_play_lead_back_to_the_fen(choices in proptest::collection::vec(any::<u16>(), 0..200)) {
            let mut position = Chess::default();
            for choice in choices {
                let legal = position.legal_moves();
                let Some(&played) = legal.get(usize::from(choice) % legal.len().max(1)) else { break };
                position.play_unchecked(played);
                let board = Board::of(&position).unwrap();
                let fen = Fen::from_position(&position, EnPassantMode::Legal).to_string();
                prop_assert_eq!(fen_of(&board.ids()), fen);
            }
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in "[a-zA-Z0-9/ -]{0,80}") {
            let _ = Board::parse(&text);
        }
    }
}
