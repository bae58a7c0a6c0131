//! The facts that rules find of a move.

use cwm_questions::Task;
use cwm_questions::truth::{Keys, Position as Truths, answer_in_position, role_name};
use shakmaty::{Bitboard, Board, CastlingSide, Chess, Color, Move, Position, Rank, Role, Square};

/// Something that a move does. Pieces that stand somewhere are named with their square: `knight on f6`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The move mates the king on this square.
    Mate { king: Square },
    /// The move castles; the king goes to this square.
    Castling { side: &'static str, wing: &'static str, to: Square },
    /// A pawn becomes another piece.
    Promotion { side: &'static str, to: Square, role: &'static str },
    /// A pawn captures en passant.
    EnPassant { side: &'static str, from: Square, to: Square },
    /// The move captures.
    Capture { side: &'static str, piece: &'static str, from: Square, to: Square, taken: &'static str },
    /// Two pieces give check.
    DoubleCheck { king: Square },
    /// A piece gives check.
    Check { king: Square, side: &'static str },
    /// The moved piece attacks two pieces that are no pawns.
    Fork { piece: &'static str, to: Square, first: String, second: String },
    /// A piece of the other side is pinned that was not before.
    Pin { pinned: String, by: String },
    /// The moved pawn is a passed pawn.
    PassedPawn { side: &'static str, to: Square },
}

/// The facts of a move that is legal in `before`, the most striking first.
pub fn facts(before: &Chess, played: Move) -> Vec<Fact> {
    let mut after = before.clone();
    after.play_unchecked(played);
    let (mover, role) = (before.turn(), played.role());
    let side = mover.fold_wb("White", "Black");
    let (from, to) = (played.from(), reached(played, mover));
    let mut facts = Vec::new();
    let king = after.board().king_of(!mover);
    facts.extend(king.filter(|_| after.is_checkmate()).map(|king| Fact::Mate { king }));
    facts.extend(played.castling_side().map(|wing| {
        let wing = if wing == CastlingSide::KingSide { "kingside" } else { "queenside" };
        Fact::Castling { side, wing, to }
    }));
    facts.extend(played.promotion().map(|role| Fact::Promotion { side, to, role: role_name(role) }));
    if let (Some(from), Some(taken)) = (from, played.capture()) {
        facts.push(match played.is_en_passant() {
            true => Fact::EnPassant { side, from, to },
            false => Fact::Capture { side, piece: role_name(role), from, to, taken: role_name(taken) },
        });
    }
    if let Some(king) = king.filter(|_| after.is_check() && !after.is_checkmate()) {
        let is_double = after.checkers().more_than_one();
        facts.push(if is_double { Fact::DoubleCheck { king } } else { Fact::Check { king, side } });
    }
    facts.extend(fork(after.board(), to));
    facts.extend(new_pin(before, &after));
    let is_passed = played.promotion().is_none() && role == Role::Pawn && is_passed(after.board(), to, mover);
    facts.extend(is_passed.then_some(Fact::PassedPawn { side, to }));
    facts
}

/// The square that the moved piece reaches; of castling, that of the king.
fn reached(played: Move, mover: Color) -> Square {
    played.castling_side().map_or(played.to(), |wing| wing.king_to(mover))
}

fn fork(board: &Board, from: Square) -> Option<Fact> {
    let (role, color) = (board.role_at(from)?, board.color_at(from)?);
    let targets = board.attacks_from(from) & board.by_color(!color) & !board.pawns();
    let mut targets = targets.into_iter().filter_map(|square| standing(board, square));
    let (first, second) = (targets.next()?, targets.next()?);
    Some(Fact::Fork { piece: role_name(role), to: from, first, second })
}

/// The first pin of a piece of the side to move that was not there before.
fn new_pin(before: &Chess, after: &Chess) -> Option<Fact> {
    let pins = |position: &Chess| answer_in_position(Task::Pin, &Truths::of_chess(position), None, Keys::Sound);
    let (old, new) = (pins(before)?, pins(after)?);
    let old: Vec<&str> = old.split(", ").collect();
    let board = after.board();
    new.split(", ").filter(|pin| !old.contains(pin)).find_map(|pin| {
        let mut squares = pin.split('>').map_while(|square| square.parse::<Square>().ok());
        let (by, pinned) = (squares.next()?, squares.next()?);
        let is_theirs = board.color_at(pinned) == Some(after.turn());
        is_theirs.then_some(Fact::Pin { pinned: standing(board, pinned)?, by: standing(board, by)? })
    })
}

/// True if no pawn of the other side stands before the pawn, on its file or one beside it.
fn is_passed(board: &Board, square: Square, color: Color) -> bool {
    let files = [-1, 0, 1].into_iter().filter_map(|by| square.file().offset(by)).map(Bitboard::from_file);
    let ahead = |rank: Rank| color.fold_wb(rank > square.rank(), rank < square.rank());
    let ranks = Rank::ALL.into_iter().filter(|&rank| ahead(rank)).map(Bitboard::from_rank);
    let before =
        files.fold(Bitboard::EMPTY, |all, file| all | file) & ranks.fold(Bitboard::EMPTY, |all, rank| all | rank);
    (board.pawns() & board.by_color(!color) & before).is_empty()
}

fn standing(board: &Board, square: Square) -> Option<String> {
    Some(format!("{} on {square}", role_name(board.role_at(square)?)))
}
