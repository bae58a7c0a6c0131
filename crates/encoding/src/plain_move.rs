//! A move as three numbers, its token, and its packed form.

use std::fmt;

use shakmaty::{CastlingSide, Move, Role, Square};

/// The token before the first move of every game.
pub const START: u16 = 20480;

/// The token that fills a batch on the right; never part of a game.
pub const PAD: u16 = 20481;

/// Number of tokens: 64 × 64 × 5 moves, [`START`] and [`PAD`].
pub const VOCABULARY: usize = 20482;

/// Origin, target and promotion of a move; castling is the king's move (e1g1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlainMove {
    /// The origin of the piece.
    pub from: Square,
    /// Its destination.
    pub to: Square,
    /// The promotion of a pawn: none, queen, rook, bishop or knight.
    pub promotion: Option<Role>,
}

impl PlainMove {
    /// The token `(from * 64 + to) * 5 + promotion`, with a1 = 0 … h8 = 63 and none, q, r, b, n = 0 … 4.
    #[inline]
    pub fn token(self) -> u16 {
        (self.from.to_u32() as u16 * 64 + self.to.to_u32() as u16) * 5 + promotion_code(self.promotion)
    }

    /// The move of a token; `None` for [`START`], [`PAD`] and what is no token.
    #[inline]
    pub fn from_token(token: u16) -> Option<Self> {
        if token >= START {
            return None;
        }
        let squares = u32::from(token / 5);
        Some(PlainMove {
            from: Square::new(squares / 64),
            to: Square::new(squares % 64),
            promotion: promotion_role(token % 5)?,
        })
    }

    /// The sixteen bits `from | to << 6 | promotion << 12` of a games file.
    #[inline]
    pub fn packed(self) -> u16 {
        self.from.to_u32() as u16 | (self.to.to_u32() as u16) << 6 | promotion_code(self.promotion) << 12
    }

    /// The move of sixteen packed bits; `None` if they stand for none.
    #[inline]
    pub fn from_packed(packed: u16) -> Option<Self> {
        Some(PlainMove {
            from: Square::new(u32::from(packed & 63)),
            to: Square::new(u32::from(packed >> 6 & 63)),
            promotion: promotion_role(packed >> 12)?,
        })
    }
}

/// Castling, which shakmaty writes as king takes rook, becomes the king's move. A drop (of Crazyhouse, which cwm does
/// not play) has no origin and gives its target twice, as in the paper's code.
impl From<Move> for PlainMove {
    #[inline]
    fn from(played: Move) -> Self {
        let from = played.from().unwrap_or(played.to());
        let to = match played {
            Move::Castle { king, rook } => {
                Square::from_coords(CastlingSide::from_king_side(king < rook).king_to_file(), king.rank())
            }
            other => other.to(),
        };
        PlainMove { from, to, promotion: played.promotion() }
    }
}

/// Prints the move in UCI notation: `e2e4`, `e7e8q`.
impl fmt::Display for PlainMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.from, self.to)?;
        self.promotion.map_or(Ok(()), |role| write!(f, "{}", role.char()))
    }
}

#[inline]
fn promotion_code(promotion: Option<Role>) -> u16 {
    match promotion {
        Some(Role::Queen) => 1,
        Some(Role::Rook) => 2,
        Some(Role::Bishop) => 3,
        Some(Role::Knight) => 4,
        Some(Role::Pawn | Role::King) | None => 0,
    }
}

/// `None` where the code stands for nothing.
#[inline]
fn promotion_role(code: u16) -> Option<Option<Role>> {
    match code {
        0 => Some(None),
        1 => Some(Some(Role::Queen)),
        2 => Some(Some(Role::Rook)),
        3 => Some(Some(Role::Bishop)),
        4 => Some(Some(Role::Knight)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_the_paper_s() {
        let e2e4 = PlainMove { from: Square::E2, to: Square::E4, promotion: None };
        assert_eq!(e2e4.token(), (12 * 64 + 28) * 5);
        let promotion = PlainMove { from: Square::H7, to: Square::H8, promotion: Some(Role::Knight) };
        assert_eq!(promotion.token(), (55 * 64 + 63) * 5 + 4);
        assert_eq!(promotion.to_string(), "h7h8n");
        let castling = Move::Castle { king: Square::E8, rook: Square::A8 };
        assert_eq!(PlainMove::from(castling).to_string(), "e8c8");
    }

    #[test]
    fn every_token_and_every_packed_move_reads_back() {
        for token in 0..START {
            let plain = PlainMove::from_token(token).unwrap();
            assert_eq!(plain.token(), token);
            assert_eq!(PlainMove::from_packed(plain.packed()), Some(plain));
        }
        for token in START..=u16::MAX {
            assert_eq!(PlainMove::from_token(token), None);
        }
        for packed in 0..=u16::MAX {
            match PlainMove::from_packed(packed) {
                Some(plain) => assert_eq!(plain.packed(), packed),
                None => assert!(packed >> 12 > 4),
            }
        }
    }
}
