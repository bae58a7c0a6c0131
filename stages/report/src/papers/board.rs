//! A board with its pieces, as pages draw it. The pieces are drawn by hand in a square of 40 by 40: an outline that is
//! filled, and lines upon it. Text glyphs would depend on the reader's fonts, or be missing.
//!
//! `templates/board` has its elements, `board.css` their style.

use std::collections::BTreeMap;

use cwm_contract::Failure;

/// Side of a square.
pub(crate) const SIDE: usize = 40;

/// Outline and lines of each piece, by its letter.
pub(crate) type Drawings = BTreeMap<char, [String; 2]>;

/// A piece on a board.
pub(crate) struct Piece {
    /// `white` or `black`.
    pub(crate) colour: &'static str,
    /// Its letter as a capital.
    pub(crate) letter: char,
    /// The left end of its square.
    pub(crate) x: usize,
    /// The upper end.
    pub(crate) y: usize,
}

/// Reads the drawings, which the script of the board view has as well.
///
/// # Errors
/// A mistake of ours.
pub(crate) fn drawings() -> Result<Drawings, Failure> {
    let read = serde_json::from_str(include_str!("pieces.json"));
    read.map_err(|error| Failure::internal(format!("cannot read the drawings of pieces: {error}")))
}

/// The pieces of a position; none where its first field is no placement.
pub(crate) fn placed(fen: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    for (rank, row) in fen.split(' ').next().unwrap_or_default().split('/').enumerate() {
        let mut file = 0;
        for letter in row.chars() {
            match letter.to_digit(10) {
                Some(empty) => file += empty as usize,
                None if "PNBRQKpnbrqk".contains(letter) => {
                    let colour = if letter.is_ascii_uppercase() { "white" } else { "black" };
                    let letter = letter.to_ascii_uppercase();
                    found.push(Piece { colour, letter, x: file * SIDE, y: rank * SIDE });
                    file += 1;
                }
                None => return Vec::new(),
            }
        }
        if file != 8 || rank > 7 {
            return Vec::new();
        }
    }
    found
}
