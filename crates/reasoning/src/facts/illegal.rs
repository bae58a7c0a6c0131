//! Moves that look possible and are illegal.

use cwm_encoding::PlainMove;
use shakmaty::attacks::{attacks, pawn_attacks};
use shakmaty::{Bitboard, Chess, MoveList, Piece, Position, Rank, Role, Square};

use crate::draws::RandomChoices;

/// An illegal move of a piece of the side to move: kinds of piece and pieces are tried in random order until one has any. Out of
/// check it goes as the piece would on an empty board, but not onto an own piece; in check it leaves the king in check.
pub(super) fn illegal_move(position: &Chess, moves: &MoveList, draws: &mut RandomChoices) -> Option<PlainMove> {
    let occupied = if position.is_check() { position.board().occupied() } else { Bitboard::EMPTY };
    let mut roles = Role::ALL;
    draws.shuffle(&mut roles);
    for role in roles {
        let mut squares: Vec<Square> = position.our(role).into_iter().collect();
        draws.shuffle(&mut squares);
        for from in squares {
            let targets: Vec<Square> = targets(position, role, from, occupied)
                .into_iter()
                .filter(|to| !moves.iter().any(|played| goes(PlainMove::from(*played), from, *to)))
                .collect();
            if let Some(&to) = draws.one_of(&targets) {
                let promotes = role == Role::Pawn && Bitboard::BACKRANKS.contains(to);
                return Some(PlainMove { from, to, promotion: promotes.then_some(Role::Queen) });
            }
        }
    }
    None
}

fn goes(played: PlainMove, from: Square, to: Square) -> bool {
    played.from == from && played.to == to
}

/// The squares that a piece reaches if only the squares `occupied` hold pieces, without those of own pieces. A pawn
/// captures on any square if none holds a piece, else on those of the opponent.
fn targets(position: &Chess, role: Role, from: Square, occupied: Bitboard) -> Bitboard {
    let color = position.turn();
    let reached = match role {
        Role::Pawn => {
            let captures = pawn_attacks(color, from);
            let captured = if occupied.any() { position.them() } else { Bitboard::FULL };
            (captures & captured) | pushes(position, from, occupied)
        }
        _ => attacks(from, Piece { color, role }, occupied),
    };
    reached & !position.us()
}

fn pushes(position: &Chess, from: Square, occupied: Bitboard) -> Bitboard {
    let color = position.turn();
    let (step, first) = color.fold_wb((8, Rank::Second), (-8, Rank::Seventh));
    let free = |square: &Square| !occupied.contains(*square);
    let Some(one) = from.offset(step).filter(free) else { return Bitboard::EMPTY };
    let two = one.offset(step).filter(free).filter(|_| from.rank() == first);
    Bitboard::from_iter([Some(one), two].into_iter().flatten())
}
