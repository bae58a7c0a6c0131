//! The Structural tasks on one position: pieces, moves, checks and squares.

use shakmaty::attacks::{between, ray};
use shakmaty::{Bitboard, Board, Color, Piece, Role, Square};

use crate::truth::Keys;
use crate::truth::motifs::pins_of;
use crate::truth::position::Position;
use crate::truth::uci::{Uci, moves_text, push_square, push_squares, separate};

const ROLES: [Role; 6] = [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn];

/// The name of a role, such as `king`.
pub fn role_name(role: Role) -> &'static str {
    match role {
        Role::Pawn => "pawn",
        Role::Knight => "knight",
        Role::Bishop => "bishop",
        Role::Rook => "rook",
        Role::Queen => "queen",
        Role::King => "king",
    }
}

/// The name of a piece, such as `White King`.
pub fn piece_name(piece: Piece) -> &'static str {
    match (piece.color, piece.role) {
        (Color::White, Role::King) => "White King",
        (Color::White, Role::Queen) => "White Queen",
        (Color::White, Role::Rook) => "White Rook",
        (Color::White, Role::Bishop) => "White Bishop",
        (Color::White, Role::Knight) => "White Knight",
        (Color::White, Role::Pawn) => "White Pawn",
        (Color::Black, Role::King) => "Black King",
        (Color::Black, Role::Queen) => "Black Queen",
        (Color::Black, Role::Rook) => "Black Rook",
        (Color::Black, Role::Bishop) => "Black Bishop",
        (Color::Black, Role::Knight) => "Black Knight",
        (Color::Black, Role::Pawn) => "Black Pawn",
    }
}

/// The pieces and their squares: `White King: ['g1'], White Pawn: ['a2', 'b3'], …`.
pub(crate) fn piece_arrangement(board: &Board) -> String {
    let mut text = String::with_capacity(512);
    for color in Color::ALL {
        for role in ROLES {
            let squares = board.by_piece(role.of(color));
            if squares.any() {
                separate(&mut text, ", ");
                text.push_str(piece_name(role.of(color)));
                text.push_str(": ['");
                push_squares(&mut text, squares, "', '");
                text.push_str("']");
            }
        }
    }
    text
}

/// The legal moves from `from`, or from everywhere.
pub(crate) fn legal_moves(position: &Position, from: Option<Square>) -> String {
    let moves = position.moves().iter().filter(|played| from.is_none_or(|from| played.from() == Some(from)));
    moves_text(moves.map(|&played| Uci::of(played)).collect())
}

/// The pieces that give check, such as `Black Queen at h4`, in the order a1, b1, … h8.
pub(crate) fn checkers(position: &Position) -> String {
    let (board, turn) = (position.board(), position.turn());
    let mut text = String::new();
    let Some(king) = board.king_of(turn) else { return text };
    for square in board.attacks_to(king, !turn, board.occupied()) {
        if let Some(piece) = board.piece_at(square) {
            separate(&mut text, ", ");
            text.push_str(piece_name(piece));
            text.push_str(" at ");
            push_square(&mut text, square);
        }
    }
    text
}

/// The legal moves that give check.
pub(crate) fn checking_moves(position: &Position) -> String {
    let checking = position.checks().filter(|(_, _, checkers)| checkers.any());
    moves_text(checking.map(|(played, ..)| Uci::of(played)).collect())
}

/// The kind of a piece's squares that a task is about.
#[derive(Clone, Copy)]
pub(crate) enum SquareKind {
    Capture,
    Control,
    Protect,
}

/// The squares that the piece on `square` captures on, controls or protects; none where nothing stands.
pub(crate) fn squares(board: &Board, square: Square, kind: SquareKind, keys: Keys) -> String {
    let mut text = String::new();
    push_squares(&mut text, reached(board, square, kind, keys), ", ");
    text
}

fn reached(board: &Board, square: Square, kind: SquareKind, keys: Keys) -> Bitboard {
    let Some(color) = board.color_at(square) else { return Bitboard::EMPTY };
    let wanted = match kind {
        SquareKind::Capture => board.by_color(!color),
        SquareKind::Control => !board.occupied(),
        SquareKind::Protect => board.by_color(color) & !board.kings(),
    };
    let reached = board.attacks_from(square) & wanted;
    match (keys, kind) {
        // A piece pinned beside its king does not count as pinned there.
        (Keys::Published, _) => match pin(board, square) {
            Some(king) if between(king, square).any() => Bitboard::EMPTY,
            _ => reached,
        },
        (Keys::Sound, SquareKind::Protect) => pin(board, square).map_or(reached, |king| reached & ray(king, square)),
        (Keys::Sound, _) => {
            let legal = |to: &Square| leaves_king_safe(board, color, square, *to);
            (reached & !board.kings()).into_iter().filter(legal).collect()
        }
    }
}

/// The king to which the piece on `square` is pinned.
fn pin(board: &Board, square: Square) -> Option<Square> {
    let mut pins = pins_of(board, board.color_at(square)?);
    pins.find_map(|[_, pinned, king]| (pinned == square).then_some(king))
}

/// Returns true if no piece attacks the king of `color` after another piece of its side went from `from` to `to`.
fn leaves_king_safe(board: &Board, color: Color, from: Square, to: Square) -> bool {
    let occupied = board.occupied().without(from).with(to);
    let safe = |king| (board.attacks_to(king, !color, occupied) & !Bitboard::from_square(to)).is_empty();
    board.king_of(color).is_some_and(safe)
}
