//! The moves that a model chooses among.
//!
//! An action is a move by origin, target and promotion that some piece could make on some board. Castling is the move of
//! the king. Chess960, in which a king may castle from other squares, has no ids.

use std::sync::LazyLock;

use cwm_encoding::{PlainMove, START};
use shakmaty::{Chess, File, Position, Rank, Role, Square, attacks};

/// Number of actions.
pub const ACTIONS: usize = 1968;

/// The table of all moves by id, and of all ids by token.
struct Table {
    moves: Vec<PlainMove>,
    ids: Vec<u16>,
}

/// The id in [`Table::ids`] of a token that is no action.
const NONE: u16 = u16::MAX;

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let moves = in_order();
    let mut ids = vec![NONE; usize::from(START)];
    for (id, plain) in moves.iter().enumerate() {
        ids[usize::from(plain.token())] = id as u16;
    }
    Table { moves, ids }
});

/// Returns all actions in order: for each origin the targets of a queen on an empty board and of a knight; then promotions.
fn in_order() -> Vec<PlainMove> {
    let mut moves = Vec::with_capacity(ACTIONS);
    for from in Square::ALL {
        let targets = |squares: shakmaty::Bitboard| squares.into_iter();
        let queen = attacks::queen_attacks(from, shakmaty::Bitboard::EMPTY);
        for to in targets(queen).chain(targets(attacks::knight_attacks(from))) {
            moves.push(PlainMove { from, to, promotion: None });
        }
    }
    for (before, last) in [(Rank::Second, Rank::First), (Rank::Seventh, Rank::Eighth)] {
        for file in File::ALL {
            // Straight, then a capture to the left, then one to the right.
            for to in [Some(file), file.offset(-1), file.offset(1)].into_iter().flatten() {
                for role in [Role::Queen, Role::Rook, Role::Bishop, Role::Knight] {
                    let (from, to) = (Square::from_coords(file, before), Square::from_coords(to, last));
                    moves.push(PlainMove { from, to, promotion: Some(role) });
                }
            }
        }
    }
    moves
}

/// The id of a move; `None` for one that no piece can make.
pub fn action_of(plain: PlainMove) -> Option<u16> {
    let id = TABLE.ids[usize::from(plain.token())];
    (id != NONE).then_some(id)
}

/// The move of an id; `None` from [`ACTIONS`] on.
pub fn move_of(action: u16) -> Option<PlainMove> {
    TABLE.moves.get(usize::from(action)).copied()
}

/// The ids of the legal moves, ascending.
pub fn legal_actions(position: &Chess) -> Vec<u16> {
    let mut actions: Vec<u16> =
        position.legal_moves().iter().filter_map(|&legal| action_of(PlainMove::from(legal))).collect();
    actions.sort_unstable();
    actions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden;

    #[test]
    fn ids_are_those_of_chessbench() {
        let Some(text) = golden::read("actions.txt") else { return };
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), ACTIONS);
        for (id, line) in lines.iter().enumerate() {
            assert_eq!(move_of(id as u16).unwrap().to_string(), *line, "id {id}");
        }
    }

    #[test]
    fn ids_and_moves_are_one_to_one() {
        for id in 0..ACTIONS as u16 {
            assert_eq!(action_of(move_of(id).unwrap()), Some(id));
        }
        assert_eq!(move_of(ACTIONS as u16), None);
        let found = (0..START).filter(|&token| PlainMove::from_token(token).and_then(action_of).is_some());
        assert_eq!(found.count(), ACTIONS);
    }

    #[test]
    fn legal_moves_of_golden_positions_are_theirs() {
        for position in golden::positions() {
            assert_eq!(legal_actions(&position.chess()), position.actions, "{}", position.fen);
            let texts: Vec<String> = position.actions.iter().map(|&id| move_of(id).unwrap().to_string()).collect();
            assert_eq!(texts, position.legal, "{}", position.fen);
        }
    }
}
