//! Moves on a board: the board after one, and the legal moves of boards that cannot arise in a game.

use shakmaty::attacks::{between, pawn_attacks};
use shakmaty::{Bitboard, Board, Castles, CastlingSide, Color, Move, Rank, Role, Square};

/// The board after `color` made a move.
pub(crate) fn after(board: &Board, color: Color, played: Move) -> Board {
    let mut board = board.clone();
    match played {
        Move::Normal { role, from, to, promotion, .. } => {
            board.discard_piece_at(from);
            board.set_piece_at(to, promotion.unwrap_or(role).of(color));
        }
        Move::EnPassant { from, to } => {
            board.discard_piece_at(from);
            board.discard_piece_at(Square::from_coords(to.file(), from.rank()));
            board.set_piece_at(to, Role::Pawn.of(color));
        }
        Move::Castle { king, rook } => {
            let side = CastlingSide::from_king_side(king < rook);
            board.discard_piece_at(king);
            board.discard_piece_at(rook);
            board.set_piece_at(side.king_to(color), Role::King.of(color));
            board.set_piece_at(side.rook_to(color), Role::Rook.of(color));
        }
        Move::Put { role, to } => board.set_piece_at(to, role.of(color)),
    }
    board
}

/// The legal moves of `color` on a board with one king a side that shakmaty refuses as a position: the other side's king stands
/// in check, pawns stand on the first or last rank, there is too much material. That the moves are shakmaty's on other boards
/// is tested. `en_passant` counts if the other side may just have pushed a pawn over it.
pub(crate) fn legal_moves(board: &Board, color: Color, castles: &Castles, en_passant: Option<Square>) -> Vec<Move> {
    let mut moves = Vec::new();
    let (ours, theirs) = (board.by_color(color), board.by_color(!color));
    for from in ours {
        let Some(role) = board.role_at(from) else { continue };
        let targets = match role {
            Role::Pawn => (pawn_attacks(color, from) & theirs) | pushes(board, color, from),
            _ => board.attacks_from(from) & !ours,
        };
        for to in targets {
            let capture = board.role_at(to);
            let mut add = |promotion| moves.push(Move::Normal { role, from, capture, to, promotion });
            if role == Role::Pawn && Bitboard::BACKRANKS.contains(to) {
                [Role::Queen, Role::Rook, Role::Bishop, Role::Knight].into_iter().for_each(|role| add(Some(role)));
            } else {
                add(None);
            }
        }
    }
    if let Some(to) = en_passant.filter(|square| was_passed(board, color, *square)) {
        let capturers = pawn_attacks(!color, to) & board.pawns() & ours;
        moves.extend(capturers.into_iter().map(|from| Move::EnPassant { from, to }));
    }
    moves.extend(CastlingSide::ALL.into_iter().filter_map(|side| castling(board, color, castles, side)));
    moves.retain(|played| {
        let after = after(board, color, *played);
        after.king_of(color).is_some_and(|king| after.attacks_to(king, !color, after.occupied()).is_empty())
    });
    moves
}

/// Returns true if a pawn of the side that is not `color` may just have gone over `square` by two steps.
pub(crate) fn was_passed(board: &Board, color: Color, square: Square) -> bool {
    let on = |rank| Square::from_coords(square.file(), color.relative_rank(rank));
    square == on(Rank::Sixth)
        && board.piece_at(on(Rank::Fifth)) == Some(Role::Pawn.of(!color))
        && [Rank::Sixth, Rank::Seventh].into_iter().all(|rank| !board.occupied().contains(on(rank)))
}

/// The squares to which a pawn may be pushed. Two steps from its own first rank too, as in python-chess, with which others
/// compute these answers.
fn pushes(board: &Board, color: Color, from: Square) -> Bitboard {
    let step = color.fold_wb(8, -8);
    let free = |square: &Square| !board.occupied().contains(*square);
    let Some(single) = from.offset(step).filter(free) else { return Bitboard::EMPTY };
    let reaches =
        |square: &Square| [Rank::Third, Rank::Fourth].map(|rank| color.relative_rank(rank)).contains(&square.rank());
    let double = single.offset(step).filter(free).filter(reaches);
    Bitboard::from_square(single) | double.map_or(Bitboard::EMPTY, Bitboard::from_square)
}

fn castling(board: &Board, color: Color, castles: &Castles, side: CastlingSide) -> Option<Move> {
    let rook = castles.rook(color, side)?;
    let king = board.king_of(color)?;
    let occupied = board.occupied();
    let passed = between(king, side.king_to(color)).with(king);
    let is_safe = |square| board.attacks_to(square, !color, occupied.without(king)).is_empty();
    let is_free = (castles.path(color, side) & occupied).is_empty();
    (is_free && passed.into_iter().all(is_safe)).then_some(Move::Castle { king, rook })
}
