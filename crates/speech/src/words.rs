//! The list of words, and their numbers.

use shakmaty::{CastlingSide, Color, File, Piece, Role, Square};

/// The words behind those of squares, pieces and other properties of positions, in their order.
const NAMED: [&str; 40] = [
    // Questions: the tasks, the builders of examples, and the kinds of facts.
    "reasoning_predict_move",
    "reasoning_best_move",
    "reasoning_worst_move",
    "reasoning_legal_moves",
    "best_move",
    "best_line",
    "factual",
    "verbalised",
    "check",
    "legal",
    "capture",
    "material",
    "mobility",
    "only_capture",
    // Parts of answers.
    "<think>",
    "</think>",
    "<answer>",
    "</answer>",
    "Δ",
    "v",
    "mm",
    "+",
    "-",
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "8",
    "9",
    "Yes",
    "No",
    "mate",
    "|",
    LONE_SQUARE,
    "<end>",
    "<padding>",
];

/// The word before a square that is no part of a move; texts do not show it.
pub(crate) const LONE_SQUARE: &str = "@";

/// The first of the squares a1, b1, … h8.
const FIRST_SQUARE: u16 = 0;
/// The word of an empty square; those of the white pieces, P N B R Q K, then the black ones follow.
const FIRST_PIECE: u16 = FIRST_SQUARE + 64;
/// The word of promotion to a queen; those of rook, bishop and knight follow.
const FIRST_PROMOTION: u16 = FIRST_PIECE + 13;
/// The word of White to move; that of Black follows.
const FIRST_SIDE: u16 = FIRST_PROMOTION + 4;
/// The word of no castling rights; those of the sets of K (1), Q (2), k (4) and q (8) follow, by their sums.
const FIRST_CASTLING: u16 = FIRST_SIDE + 2;
/// The word of no en passant capture; those of the files a to h follow.
const FIRST_FILE: u16 = FIRST_CASTLING + 16;
const FIRST_NAMED: u16 = FIRST_FILE + 9;

/// Number of words.
pub const COUNT: u16 = FIRST_NAMED + NAMED.len() as u16;

/// The word that ends an answer. The one behind it, the last, fills batches.
pub const END: u16 = COUNT - 2;

/// Pieces to which a pawn is promoted.
const PROMOTIONS: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// The rights of castling, in the order of their bits.
const RIGHTS: [(Color, CastlingSide); 4] = [
    (Color::White, CastlingSide::KingSide),
    (Color::White, CastlingSide::QueenSide),
    (Color::Black, CastlingSide::KingSide),
    (Color::Black, CastlingSide::QueenSide),
];

pub(crate) fn square(square: Square) -> u16 {
    FIRST_SQUARE + square.to_u32() as u16
}

/// The word of a piece, or of an empty square.
pub(crate) fn piece(piece: Option<Piece>) -> u16 {
    let number = |piece: Piece| 1 + piece.role as u16 - Role::Pawn as u16 + piece.color.fold_wb(0, 6);
    FIRST_PIECE + piece.map_or(0, number)
}

/// The word of a promotion; none to a pawn or a king.
pub(crate) fn promotion(role: Role) -> Option<u16> {
    let place = PROMOTIONS.iter().position(|other| *other == role)?;
    Some(FIRST_PROMOTION + place as u16)
}

pub(crate) fn side(color: Color) -> u16 {
    FIRST_SIDE + color.fold_wb(0, 1)
}

/// The word of the rights that `has` names.
pub(crate) fn castling(has: impl Fn(Color, CastlingSide) -> bool) -> u16 {
    let bits = RIGHTS.iter().enumerate().map(|(bit, &(color, side))| u16::from(has(color, side)) << bit);
    FIRST_CASTLING + bits.sum::<u16>()
}

/// The word of the file of an en passant capture, or of none.
pub(crate) fn en_passant(file: Option<File>) -> u16 {
    FIRST_FILE + file.map_or(0, |file| 1 + file.to_u32() as u16)
}

/// The word of this name among those without a family of their own.
pub(crate) fn named(name: &str) -> Option<u16> {
    let place = NAMED.iter().position(|other| *other == name)?;
    Some(FIRST_NAMED + place as u16)
}

/// The square of a word that is one.
pub(crate) fn square_of(word: u16) -> Option<Square> {
    (word < FIRST_PIECE).then(|| Square::new(u32::from(word)))
}

/// The piece of a word that is a promotion.
pub(crate) fn promotion_of(word: u16) -> Option<Role> {
    PROMOTIONS.get(usize::from(word.checked_sub(FIRST_PROMOTION)?)).copied()
}

/// The name of a word, as texts show it and as people read it in lists; `?` of a number that is no word.
pub fn name(word: u16) -> String {
    let letters = |text: &str, at: u16| text.chars().nth(usize::from(at)).map_or_else(|| "?".to_owned(), String::from);
    match word {
        FIRST_SQUARE..FIRST_PIECE => square_of(word).map_or_else(|| "?".to_owned(), |square| square.to_string()),
        FIRST_PIECE..FIRST_PROMOTION => letters(".PNBRQKpnbrqk", word - FIRST_PIECE),
        FIRST_PROMOTION..FIRST_SIDE => format!("={}", letters("qrbn", word - FIRST_PROMOTION)),
        FIRST_SIDE..FIRST_CASTLING => if word == FIRST_SIDE { "white" } else { "black" }.to_owned(),
        FIRST_CASTLING..FIRST_FILE => castling_name(word - FIRST_CASTLING),
        FIRST_FILE..FIRST_NAMED => format!("ep:{}", letters("-abcdefgh", word - FIRST_FILE)),
        _ => NAMED.get(usize::from(word - FIRST_NAMED)).map_or_else(|| "?".to_owned(), |name| (*name).to_owned()),
    }
}

fn castling_name(set: u16) -> String {
    let has = |(bit, letter): (usize, char)| ((set >> bit) & 1 == 1).then_some(letter);
    let letters: String = "KQkq".chars().enumerate().filter_map(has).collect();
    format!("castling:{}", if letters.is_empty() { "-" } else { &letters })
}
