//! Moves in algebraic notation.
//!
//! Read as the paper's code reads them: captures need no `x`, promotions no `=`, check signs mean nothing, and a move
//! may be written with its full origin (`e2e4`, `Ng1-f3`, `e1g1`, `e1h1` for castling). What is left open must be settled by
//! legality.

use cwm_encoding::{PlainMove, legal, legal_between};
use shakmaty::attacks::{bishop_attacks, king_attacks, knight_attacks, pawn_attacks, queen_attacks, rook_attacks};
use shakmaty::{Bitboard, CastlingSide, Chess, Color, File, Move, Position, Rank, Role, Square};

/// A reason for which a word is not a move here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SanError {
    /// It is not notation of a move.
    Unreadable,
    /// It passes (`--`, `Z0`, `0000`, `@@@@`).
    Null,
    /// No legal move is written so.
    Illegal,
    /// Several legal moves are.
    Ambiguous,
}

/// The fields of a move in standard algebraic notation.
struct San {
    /// The piece, if a letter names it.
    role: Option<Role>,
    file: Option<File>,
    rank: Option<Rank>,
    to: Square,
    promotion: Option<Role>,
}

/// The legal move of `position` that `word` stands for.
///
/// # Errors
/// It stands for none, or for several.
#[inline]
pub fn read_san(position: &Chess, word: &[u8]) -> Result<Move, SanError> {
    let mut word = word;
    while let [rest @ .., b'+' | b'#'] = word {
        word = rest;
    }
    match word {
        [b'O', ..] | [b'0', b'-', ..] => castling(position, word),
        _ => resolve(position, &parse(word).ok_or_else(|| unreadable(word))?),
    }
}

#[cold]
fn unreadable(word: &[u8]) -> SanError {
    if [&b"--"[..], b"Z0", b"0000", b"@@@@"].contains(&word) { SanError::Null } else { SanError::Unreadable }
}

fn castling(position: &Chess, word: &[u8]) -> Result<Move, SanError> {
    let side = match word {
        b"O-O" | b"0-0" => CastlingSide::KingSide,
        b"O-O-O" | b"0-0-0" => CastlingSide::QueenSide,
        _ => return Err(SanError::Unreadable),
    };
    position.castling_moves(side).first().copied().ok_or(SanError::Illegal)
}

/// Castling written as the king's way to his rook (`e1h1`), as for Chess960.
#[cold]
fn castling_onto_rook(position: &Chess, plain: PlainMove) -> Option<Move> {
    let castles = CastlingSide::ALL.into_iter().filter_map(|side| position.castling_moves(side).first().copied());
    let meant =
        |played: &Move| matches!(*played, Move::Castle { king, rook } if (king, rook) == (plain.from, plain.to));
    castles.filter(|_| plain.promotion.is_none()).find(meant)
}

#[inline]
fn parse(word: &[u8]) -> Option<San> {
    let (role, word) = match word {
        [b'N', rest @ ..] => (Some(Role::Knight), rest),
        [b'B', rest @ ..] => (Some(Role::Bishop), rest),
        [b'R', rest @ ..] => (Some(Role::Rook), rest),
        [b'Q', rest @ ..] => (Some(Role::Queen), rest),
        [b'K', rest @ ..] => (Some(Role::King), rest),
        [b'P', rest @ ..] => (None, rest),
        other => (None, other),
    };
    let (word, promotion) = match word {
        [.., b'1'..=b'8'] => (word, None),
        _ => promotion(word)?,
    };
    let [origin @ .., file, rank] = word else { return None };
    let to = Square::from_coords(file_of(*file)?, rank_of(*rank)?);
    let origin = match origin {
        [rest @ .., b'x' | b'-' | b':'] => rest,
        other => other,
    };
    let (file, rank) = match origin {
        [] => (None, None),
        [file_or_rank] => {
            let (file, rank) = (file_of(*file_or_rank), rank_of(*file_or_rank));
            (file.is_some() || rank.is_some()).then_some((file, rank))?
        }
        [file, rank] => (Some(file_of(*file)?), Some(rank_of(*rank)?)),
        _ => return None,
    };
    Some(San { role, file, rank, to, promotion })
}

/// Takes what may follow a pawn move's target: `=Q`, `Q`, `q`, `e.p.`.
#[cold]
fn promotion(word: &[u8]) -> Option<(&[u8], Option<Role>)> {
    for suffix in [&b"e.p."[..], b"ep"] {
        if let Some(rest) = word.strip_suffix(suffix) {
            return Some((rest, None));
        }
    }
    let (letter, rest) = word.split_last()?;
    let role = match letter {
        b'Q' | b'q' => Role::Queen,
        b'R' | b'r' => Role::Rook,
        b'B' | b'b' => Role::Bishop,
        b'N' | b'n' => Role::Knight,
        _ => return None,
    };
    Some((rest.strip_suffix(b"=").unwrap_or(rest), Some(role)))
}

#[inline]
fn file_of(byte: u8) -> Option<File> {
    matches!(byte, b'a'..=b'h').then(|| File::new(u32::from(byte - b'a')))
}

#[inline]
fn rank_of(byte: u8) -> Option<Rank> {
    matches!(byte, b'1'..=b'8').then(|| Rank::new(u32::from(byte - b'1')))
}

#[inline]
fn resolve(position: &Chess, san: &San) -> Result<Move, SanError> {
    let to = san.to;
    let (role, candidates) = match (san.role, san.file, san.rank) {
        (None, Some(file), Some(rank)) => {
            let plain = PlainMove { from: Square::from_coords(file, rank), to, promotion: san.promotion };
            return legal(position, plain).or_else(|| castling_onto_rook(position, plain)).ok_or(SanError::Illegal);
        }
        (None, file, _) => (Role::Pawn, pawns(position, file.unwrap_or(to.file()), to)),
        (Some(role), ..) => (role, pieces(position, role, to)),
    };
    let mut candidates = candidates;
    if let Some(file) = san.file {
        candidates &= Bitboard::from_file(file);
    }
    if let Some(rank) = san.rank {
        candidates &= Bitboard::from_rank(rank);
    }
    let mut found = Err(SanError::Illegal);
    for from in candidates {
        if let Some(played) = legal_between(position, role, from, to, san.promotion) {
            if found.is_ok() {
                return Err(SanError::Ambiguous);
            }
            found = Ok(played);
        }
    }
    found
}

/// Own pieces of one kind that might go to `to`.
#[inline]
fn pieces(position: &Chess, role: Role, to: Square) -> Bitboard {
    let own = position.our(role);
    let occupied = || position.board().occupied();
    match role {
        Role::Knight => own & knight_attacks(to),
        Role::Bishop => own & bishop_attacks(to, occupied()),
        Role::Rook => own & rook_attacks(to, occupied()),
        Role::Queen => own & queen_attacks(to, occupied()),
        // Castling is not written as `Kg1`.
        Role::King => own & king_attacks(to),
        Role::Pawn => own,
    }
}

/// Own pawns of a file that might go to `to`.
#[inline]
fn pawns(position: &Chess, file: File, to: Square) -> Bitboard {
    let color = position.turn();
    let own = position.our(Role::Pawn);
    if file != to.file() {
        return own & pawn_attacks(!color, to);
    }
    let back = if color == Color::White { -8 } else { 8 };
    let single = to.offset(back).map_or(Bitboard::EMPTY, Bitboard::from_square) & own;
    if single.any() {
        return single;
    }
    to.offset(2 * back).map_or(Bitboard::EMPTY, Bitboard::from_square) & own
}
