//! Keys of positions: two positions are the same if their keys are equal.

use shakmaty::fen::Fen;
use shakmaty::{Chess, EnPassantMode, Position};

/// The first 128 bits of a BLAKE3 digest: small enough for ten million sequences, and no two differ by chance alone.
/// A number, since numbers compare fast; they sort as their bytes do.
pub type SequenceHash = u128;

/// The digest of a sequence one move longer than that of `digest`.
pub fn extend_digest(digest: SequenceHash, token: u16) -> SequenceHash {
    let mut bytes = [0; 18];
    bytes[..16].copy_from_slice(&digest.to_be_bytes());
    bytes[16..].copy_from_slice(&token.to_le_bytes());
    first(&bytes)
}

/// The digest of the text that [`text`] writes, without writing it.
pub fn digest(position: &Chess, is_placement: bool) -> SequenceHash {
    let board = position.board();
    let mut bytes = [0; 8 * 8 + 8 + 2];
    let sets = [board.pawns(), board.knights(), board.bishops(), board.rooks(), board.queens(), board.kings()];
    let sets = sets.into_iter().chain([board.white(), board.black()]);
    for (place, set) in bytes.chunks_exact_mut(8).zip(sets) {
        place.copy_from_slice(&set.0.to_le_bytes());
    }
    if !is_placement {
        bytes[64..72].copy_from_slice(&position.castles().castling_rights().0.to_le_bytes());
        bytes[72] = u8::from(position.turn().is_white());
        bytes[73] = position.ep_square(EnPassantMode::Legal).map_or(64, |square| square.to_u32() as u8);
    }
    first(&bytes)
}

/// The first four fields of the FEN, with an en passant square only where a capture is legal, or the first alone.
pub fn text(position: &Chess, is_placement: bool) -> String {
    let fen = Fen::from_position(position, EnPassantMode::Legal).to_string();
    let fields = if is_placement { 1 } else { 4 };
    fen.split(' ').take(fields).collect::<Vec<_>>().join(" ")
}

fn first(bytes: &[u8]) -> SequenceHash {
    let mut digest = [0; 16];
    digest.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
    SequenceHash::from_be_bytes(digest)
}
