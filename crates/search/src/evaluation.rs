//! Evaluates a position by material and squares, updated move by move.

use shakmaty::{CastlingSide, Chess, Color, File, Move, Position, Rank, Role, Square};

/// The value of a mate, in centipawns; a mate in n plies is worth that less n.
pub const MATE: i32 = 30_000;

/// Phase of the initial position: each knight and bishop counts 1, each rook 2, each queen 4.
const FULL_PHASE: i32 = 24;

/// Worth of each right to castle in the middle game.
const RIGHT_TO_CASTLE: i32 = 18;

/// The mere value of a piece, for ordering captures.
pub const fn material(role: Role) -> i32 {
    match role {
        Role::Pawn => 100,
        Role::Knight => 310,
        Role::Bishop => 325,
        Role::Rook => 500,
        Role::Queen => 960,
        Role::King => 0,
    }
}

const fn phase(role: Role) -> i32 {
    match role {
        Role::Pawn | Role::King => 0,
        Role::Knight | Role::Bishop => 1,
        Role::Rook => 2,
        Role::Queen => 4,
    }
}

/// Worth in the middle game and in the endgame, in centipawns.
#[derive(Clone, Copy)]
struct PhaseScore {
    middle: i16,
    end: i16,
}

/// By role (pawn first), then by square, as White sees it.
static PIECE_SCORES: [[PhaseScore; 64]; 6] = tables();

const fn tables() -> [[PhaseScore; 64]; 6] {
    let mut tables = [[PhaseScore { middle: 0, end: 0 }; 64]; 6];
    let mut role = 0;
    while role < 6 {
        let mut square = 0;
        while square < 64 {
            tables[role][square] = worth(Role::ALL[role], square as i32 % 8, square as i32 / 8);
            square += 1;
        }
        role += 1;
    }
    tables
}

/// A white piece on file 0..8 and rank 0..8.
const fn worth(role: Role, file: i32, rank: i32) -> PhaseScore {
    // 0 in the corners, 12 on the four squares in the middle.
    let central = 14 - (2 * file - 7).abs() - (2 * rank - 7).abs();
    let middle_files = file == 3 || file == 4;
    let (middle, end) = match role {
        Role::Pawn => {
            let advance = [0, 0, 3, 8, 14, 28, 60, 0][rank as usize];
            let place = match (middle_files, rank) {
                (true, 1) => -16,
                (true, 3 | 4) => 18,
                (true, _) => 4,
                // Pawns in front of a castled king had better stay.
                (false, 2..=5) if file > 4 || file < 2 => -8 * (rank - 1),
                (false, _) => 0,
            };
            (90 + advance + place, 110 + [0, 0, 6, 16, 34, 62, 110, 0][rank as usize])
        }
        Role::Knight => (298 + 4 * central - if rank == 0 { 12 } else { 0 }, 278 + 3 * central),
        Role::Bishop => (322 + 2 * central - if rank == 0 { 14 } else { 0 }, 308 + central),
        Role::Rook => (
            490 + if rank == 6 { 18 } else { 0 } + if middle_files && rank == 0 { 8 } else { 0 },
            520 + if rank == 6 { 8 } else { 0 },
        ),
        Role::Queen => (955 + central - if rank > 1 { 16 } else { 0 }, 950 + 2 * central),
        Role::King => {
            (if rank == 0 { [60, 78, 70, -8, 0, -10, 90, 72][file as usize] } else { -20 * rank }, 5 * central - 30)
        }
    };
    PhaseScore { middle: middle as i16, end: end as i16 }
}

/// A position and its value, which each move updates at little cost.
#[derive(Clone)]
pub struct EvaluatedPosition {
    /// The position.
    pub position: Chess,
    /// White's worth less Black's.
    middle: i32,
    end: i32,
    phase: i32,
}

impl EvaluatedPosition {
    /// Adds up the pieces of `position`.
    pub fn new(position: Chess) -> Self {
        let mut valued = EvaluatedPosition { middle: 0, end: 0, phase: 0, position };
        for (square, piece) in valued.position.board().clone() {
            valued.put(piece.role, piece.color, square, 1);
        }
        valued
    }

    /// Adds the worth of a piece to the value (`sign` 1) or subtracts it (-1).
    fn put(&mut self, role: Role, color: Color, square: Square, sign: i32) {
        let square = color.fold_wb(square, square.flip_vertical());
        let worth = PIECE_SCORES[role as usize - 1][square.to_usize()];
        let side = sign * color.fold_wb(1, -1);
        self.middle += side * i32::from(worth.middle);
        self.end += side * i32::from(worth.end);
        self.phase += sign * phase(role);
    }

    /// The position after the legal move `m`.
    pub fn after(&self, m: Move) -> EvaluatedPosition {
        let mut next = self.clone();
        let us = self.position.turn();
        match m {
            Move::Normal { role, from, capture, to, promotion } => {
                if let Some(captured) = capture {
                    next.put(captured, !us, to, -1);
                }
                next.put(role, us, from, -1);
                next.put(promotion.unwrap_or(role), us, to, 1);
            }
            Move::EnPassant { from, to } => {
                next.put(Role::Pawn, !us, Square::from_coords(to.file(), from.rank()), -1);
                next.put(Role::Pawn, us, from, -1);
                next.put(Role::Pawn, us, to, 1);
            }
            Move::Castle { king, rook } => {
                let (king_file, rook_file) = if rook > king { (File::G, File::F) } else { (File::C, File::D) };
                next.put(Role::King, us, king, -1);
                next.put(Role::Rook, us, rook, -1);
                next.put(Role::King, us, Square::from_coords(king_file, king.rank()), 1);
                next.put(Role::Rook, us, Square::from_coords(rook_file, rook.rank()), 1);
            }
            Move::Put { role, to } => next.put(role, us, to, 1),
        }
        next.position.play_unchecked(m);
        next
    }

    /// The value for the side to move, in centipawns.
    pub fn value(&self) -> i32 {
        let phase = self.phase.min(FULL_PHASE);
        let middle = self.middle + RIGHT_TO_CASTLE * self.rights();
        let mut value = (middle * phase + self.end * (FULL_PHASE - phase)) / FULL_PHASE;
        if value.abs() > 300 {
            value += self.mop_up(if value > 0 { Color::White } else { Color::Black });
        }
        self.position.turn().fold_wb(value, -value) + 8
    }

    /// Returns the number of castling rights of White less that of Black.
    fn rights(&self) -> i32 {
        let castles = self.position.castles();
        let of = |color| CastlingSide::ALL.into_iter().filter(|&side| castles.has(color, side)).count() as i32;
        of(Color::White) - of(Color::Black)
    }

    /// Rewards a side that is far ahead for attacking the king: pieces close to it, and in the endgame the king at the
    /// edge and the kings together. Else a shallow search finds no mate. As White counts.
    fn mop_up(&self, stronger: Color) -> i32 {
        let board = self.position.board();
        let (Some(own), Some(other)) = (board.king_of(stronger), board.king_of(!stronger)) else { return 0 };
        let hunters = board.by_color(stronger) & !board.pawns() & !board.kings();
        let mut mop_up: i32 = hunters.into_iter().map(|square| 14 - 4 * square.distance(other) as i32).sum();
        if self.phase <= 8 {
            let from_centre = |index: u32| (2 * index as i32 - 7).abs();
            let edge = from_centre(other.file() as u32) + from_centre(other.rank() as u32);
            mop_up += 8 * edge - 6 * own.distance(other) as i32;
        }
        stronger.fold_wb(mop_up, -mop_up)
    }
}

/// Returns the gain of the moving piece's square in the middle game, for ordering quiet moves.
pub fn improvement(m: Move, us: Color) -> i32 {
    let place = |role: Role, square: Square| {
        let square = us.fold_wb(square, square.flip_vertical());
        i32::from(PIECE_SCORES[role as usize - 1][square.to_usize()].middle)
    };
    match m {
        Move::Normal { role, from, to, .. } => place(role, to) - place(role, from),
        Move::Castle { .. } => 60,
        _ => 0,
    }
}

/// Returns true if a pawn of `us` goes to the last rank but one.
pub fn reaches_seventh(m: Move, us: Color) -> bool {
    m.role() == Role::Pawn && m.to().rank() == us.fold_wb(Rank::Seventh, Rank::Second)
}

#[cfg(test)]
mod tests {
    use cwm_game::StreamRng;
    use cwm_random::Random;

    use super::*;

    #[test]
    fn the_running_value_is_that_of_the_board() {
        for game in 0..40 {
            let mut stream = StreamRng::new("test", "0", game);
            let mut valued = EvaluatedPosition::new(Chess::new());
            for _ in 0..200 {
                let moves = valued.position.legal_moves();
                if moves.is_empty() {
                    break;
                }
                valued = valued.after(moves[stream.below(moves.len() as u32) as usize]);
                let fresh = EvaluatedPosition::new(valued.position.clone());
                assert_eq!((valued.middle, valued.end, valued.phase), (fresh.middle, fresh.end, fresh.phase));
            }
        }
    }

    #[test]
    fn both_sides_are_judged_alike() {
        let start = EvaluatedPosition::new(Chess::new());
        assert_eq!((start.middle, start.end, start.phase), (0, 0, FULL_PHASE));
    }
}
