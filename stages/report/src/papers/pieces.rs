//! Pieces drawn by hand in a square of 40 by 40: an outline that is filled, and lines upon it. Text glyphs would be as the
//! reader's fonts have them, or missing.

use std::collections::BTreeMap;

use cwm_contract::Failure;

/// Outline and lines of each piece, by its letter.
pub(crate) type Pieces = BTreeMap<char, [String; 2]>;

/// The drawings, which the script of the board view has as well.
///
/// # Errors
/// A mistake of ours.
pub(crate) fn pieces() -> Result<Pieces, Failure> {
    let read = serde_json::from_str(include_str!("pieces.json"));
    read.map_err(|error| Failure::internal(format!("cannot read the drawings of pieces: {error}")))
}
