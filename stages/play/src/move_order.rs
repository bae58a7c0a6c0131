//! The order in which python-chess 1.11.2 lists legal moves. The authors' generator draws a move by its number in that
//! list, so to play its games the list must be the same (`golden/README.md` §3).

use shakmaty::{Chess, Move, MoveList, Position, Rank, Role, Square};

/// The legal moves of `position` in python-chess's order.
pub fn legal_moves(position: &Chess) -> MoveList {
    let mut moves = position.legal_moves();
    let in_check = position.is_check();
    moves.sort_unstable_by_key(|&m| rank(m, in_check));
    moves
}

/// Returns the rank of a move: smaller comes first. Squares count downwards, so they enter as 63 - square.
fn rank(m: Move, in_check: bool) -> u32 {
    let place = |group: u32, first: Square, second: Square, promotion: u32| {
        (group << 16) | ((63 - first.to_u32()) << 10) | ((63 - second.to_u32()) << 4) | promotion
    };
    match m {
        // In check the king's steps come before everything; otherwise the king is a piece like the others.
        Move::Normal { role: Role::King, from, to, .. } if in_check => place(0, from, to, 0),
        Move::Normal { role: Role::Pawn, from, to, capture, promotion, .. } => {
            let promotion = match promotion {
                None | Some(Role::Queen) => 0,
                Some(Role::Rook) => 1,
                Some(Role::Bishop) => 2,
                Some(_) => 3,
            };
            let double = (from.rank() == Rank::Second && to.rank() == Rank::Fourth)
                || (from.rank() == Rank::Seventh && to.rank() == Rank::Fifth);
            match (capture, double) {
                (Some(_), _) => place(3, from, to, promotion),
                (None, false) => place(4, to, to, promotion),
                (None, true) => place(5, to, to, 0),
            }
        }
        Move::Normal { from, to, .. } => place(1, from, to, 0),
        Move::Castle { rook, .. } => place(2, rook, rook, 0),
        Move::EnPassant { from, to } => place(6, from, to, 0),
        Move::Put { to, .. } => place(7, to, to, 0),
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;
    use shakmaty::uci::UciMove;

    use super::*;

    fn check(fen: &str, expected: &str) {
        let fen: Fen = fen.parse().unwrap();
        let position: Chess = fen.into_position(CastlingMode::Standard).unwrap();
        let listed: Vec<String> =
            legal_moves(&position).iter().map(|&m| UciMove::from_standard(m).to_string()).collect();
        assert_eq!(listed.join(" "), expected);
    }

    #[test]
    fn pieces_then_castling_then_pawns() {
        check(
            "4k3/8/8/8/8/8/7P/R3K2R w KQ - 0 1",
            "h1g1 h1f1 e1f2 e1e2 e1d2 e1f1 e1d1 a1a8 a1a7 a1a6 a1a5 a1a4 a1a3 a1a2 a1d1 a1c1 a1b1 e1g1 e1c1 h2h3 h2h4",
        );
    }

    #[test]
    fn promotions_are_queen_rook_bishop_knight_and_captures_come_first() {
        check(
            "1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1",
            "e1f2 e1e2 e1d2 e1f1 e1d1 a7b8q a7b8r a7b8b a7b8n a7a8q a7a8r a7a8b a7a8n",
        );
    }

    #[test]
    fn in_check_the_king_moves_first_and_en_passant_comes_last() {
        // The pawn that just went d7-d5 gives check; the king, the rook and, en passant, a pawn can take it.
        check("4k3/8/8/3pP3/4K3/8/8/3R4 w - d6 0 1", "e4f5 e4d5 e4f4 e4d4 e4f3 e4e3 e4d3 d1d5 e5d6");
    }
}
