//! Checks whether a single move is legal.
//!
//! shakmaty answers this by generating moves; looking at one move alone is several times faster, and both replay and
//! PGN reading do it for every ply. That the two agree on every move of every position is tested.

use shakmaty::attacks::{bishop_attacks, king_attacks, knight_attacks, pawn_attacks, queen_attacks, rook_attacks};
use shakmaty::{Bitboard, Board, CastlingSide, Chess, Color, Move, Position, Rank, Role, Square};

use crate::PlainMove;

/// The legal move of `position` that `plain` stands for.
#[inline]
pub fn legal(position: &Chess, plain: PlainMove) -> Option<Move> {
    let PlainMove { from, to, promotion } = plain;
    let role = position.board().role_at(from)?;
    legal_between(position, role, from, to, promotion)
}

/// Like [`legal`], where the caller has made sure that a piece of kind `role`, of either colour, stands on `from`.
#[inline]
pub fn legal_between(position: &Chess, role: Role, from: Square, to: Square, promotion: Option<Role>) -> Option<Move> {
    let board = position.board();
    let ours = position.us();
    if !ours.contains(from) || ours.contains(to) {
        return None;
    }
    if role == Role::Pawn {
        return pawn_move(position, from, to, promotion);
    }
    if promotion.is_some() {
        return None;
    }
    let occupied = board.occupied();
    let reached = match role {
        Role::Knight => knight_attacks(from),
        Role::Bishop => bishop_attacks(from, occupied),
        Role::Rook => rook_attacks(from, occupied),
        Role::Queen => queen_attacks(from, occupied),
        Role::King | Role::Pawn => king_attacks(from),
    };
    if !reached.contains(to) {
        return if role == Role::King { castling(position, from, to) } else { None };
    }
    let safe = if role == Role::King {
        board.attacks_to(to, !position.turn(), occupied.without(from)).is_empty()
    } else {
        king_is_safe(position, occupied.without(from).with(to), Bitboard::from_square(to))
    };
    let capture = if occupied.contains(to) { board.role_at(to) } else { None };
    safe.then_some(Move::Normal { role, from, capture, to, promotion: None })
}

fn pawn_move(position: &Chess, from: Square, to: Square, promotion: Option<Role>) -> Option<Move> {
    let board = position.board();
    let color = position.turn();
    let occupied = board.occupied();
    let last_rank = Bitboard::BACKRANKS.contains(to);
    let fits = match promotion {
        None => !last_rank,
        Some(role) => last_rank && !matches!(role, Role::Pawn | Role::King),
    };
    if !fits {
        return None;
    }
    let capture = if pawn_attacks(color, from).contains(to) {
        if occupied.contains(to) {
            board.role_at(to)
        } else if position.maybe_ep_square() == Some(to) {
            let captured = Square::from_coords(to.file(), from.rank());
            let after = occupied.without(from).without(captured).with(to);
            return king_is_safe(position, after, Bitboard::from_square(captured))
                .then_some(Move::EnPassant { from, to });
        } else {
            return None;
        }
    } else {
        let (single, start) = color.fold_wb((8, Rank::Second), (-8, Rank::Seventh));
        let step = from.offset(single)?;
        let double = || from.rank() == start && step.offset(single) == Some(to) && !occupied.contains(step);
        if occupied.contains(to) || !(to == step || double()) {
            return None;
        }
        None
    };
    king_is_safe(position, occupied.without(from).with(to), Bitboard::from_square(to)).then_some(Move::Normal {
        role: Role::Pawn,
        from,
        capture,
        to,
        promotion,
    })
}

#[cold]
fn castling(position: &Chess, from: Square, to: Square) -> Option<Move> {
    let side = CastlingSide::ALL.into_iter().find(|side| side.king_to(position.turn()) == to)?;
    let castles = position.castling_moves(side).first().copied()?;
    // In standard chess the king's move of castling is two squares; a longer way is a Chess960 start.
    (castles.from() == Some(from) && from.distance(to) == 2).then_some(castles)
}

/// Returns true if the king of the side to move is attacked by none of the pieces that are left when those on `captured` are
/// taken and `occupied` is what stands afterwards. For moves of pieces other than the king.
#[inline]
fn king_is_safe(position: &Chess, occupied: Bitboard, captured: Bitboard) -> bool {
    let board = position.board();
    let color = position.turn();
    let Some(king) = board.king_of(color) else { return false };
    (attackers(board, king, color, occupied) & board.by_color(!color) & !captured).is_empty()
}

#[inline]
fn attackers(board: &Board, king: Square, color: Color, occupied: Bitboard) -> Bitboard {
    (rook_attacks(king, occupied) & board.rooks_and_queens())
        | (bishop_attacks(king, occupied) & board.bishops_and_queens())
        | (knight_attacks(king) & board.knights())
        | (pawn_attacks(color, king) & board.pawns())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;

    use super::*;
    use crate::random_games::{choices, positions};

    /// Every combination of squares and promotion, against shakmaty's own list.
    fn check(position: &Chess) {
        let promotions = [None, Some(Role::Queen), Some(Role::Rook), Some(Role::Bishop), Some(Role::Knight)];
        let mut expected: Vec<Move> = position.legal_moves().into_iter().collect();
        let mut found = Vec::new();
        for from in Square::ALL {
            for to in Square::ALL {
                for promotion in promotions {
                    let plain = PlainMove { from, to, promotion };
                    if let Some(played) = legal(position, plain) {
                        assert_eq!(PlainMove::from(played), plain);
                        found.push(played);
                    }
                }
            }
        }
        let order = |played: &Move| PlainMove::from(*played).token();
        expected.sort_by_key(order);
        found.sort_by_key(order);
        assert_eq!(found, expected, "{}", Fen::from_position(position, shakmaty::EnPassantMode::Always));
    }

    #[test]
    fn agrees_with_shakmaty_where_it_is_hard() {
        for fen in [
            "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
            "r3k2r/8/8/8/8/5q2/8/R3K2R w KQkq - 0 1",
            "1r2k2r/8/8/8/8/8/8/R3K2R b Kk - 0 1",
            "4k3/8/8/8/1b6/8/8/R3K2R w KQ - 0 1",
            "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1",
            "8/8/8/8/k2Pp3/8/8/3K3Q b - d3 0 1",
            "8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1",
            "4k3/P1P5/8/8/8/8/p1p5/1R2K3 w - - 0 1",
            "4k3/P1P5/8/8/8/8/p1p5/1R2K3 b - - 0 1",
            "3rk3/8/8/8/8/3n4/3B4/3K3r w - - 0 1",
            "4k3/8/8/8/8/8/4q3/4K3 w - - 0 1",
            "k7/8/8/8/8/2b5/3R4/4K3 w - - 0 1",
        ] {
            let fen: Fen = fen.parse().unwrap();
            check(&fen.into_position(CastlingMode::Standard).unwrap());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn agrees_with_shakmaty_on_every_position_of_random_games(choices in choices(120)) {
            for position in positions(&choices) {
                check(&position);
            }
        }
    }
}
