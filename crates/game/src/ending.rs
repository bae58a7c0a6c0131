//! The end of a game by the rules of chess, with draws either when they stand on the board or as soon as a player could
//! claim them.

use shakmaty::{Chess, Color, Move, MoveList, Position};

/// The end of a game by the rules of chess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The side to move is mated.
    Checkmate,
    /// Neither side can mate by any series of moves.
    InsufficientMaterial,
    /// The side to move has no move and is not in check.
    Stalemate,
    /// Fifty moves of each side without capture or pawn move.
    FiftyMoves,
    /// A position occurred for the third time.
    Threefold,
}

/// The draws that end a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawRules {
    /// The draws that a player could claim now, or by announcing the next move (python-chess's `claim_draw=True`).
    Claimable,
    /// The draws that stand on the board.
    OnBoard,
}

/// A game as it is played: the position, and what came before as far as repetitions need it.
pub struct GameState {
    position: Chess,
    /// Earlier positions since the last capture or pawn move, each with how often it had stood by then. No earlier
    /// one can come back.
    earlier: Vec<(Chess, u32)>,
    /// Number of occurrences of the present position, this one included.
    occurrences: u32,
}

impl From<Chess> for GameState {
    /// A game that begins with this position.
    fn from(position: Chess) -> Self {
        GameState { position, earlier: Vec::new(), occurrences: 1 }
    }
}

impl Default for GameState {
    fn default() -> Self {
        GameState::new()
    }
}

impl GameState {
    /// The initial position.
    pub fn new() -> Self {
        GameState::from(Chess::new())
    }

    /// The present position.
    pub fn position(&self) -> &Chess {
        &self.position
    }

    /// Plays `m`, which must be legal.
    pub fn play(&mut self, m: Move) {
        let mut next = self.position.clone();
        next.play_unchecked(m);
        let previous = std::mem::replace(&mut self.position, next);
        if m.is_zeroing() {
            self.earlier.clear();
        } else {
            self.earlier.push((previous, self.occurrences));
        }
        self.occurrences = 1 + self.times_before(&self.position);
    }

    /// Counts the occurrences of `position` before the present one.
    pub fn times_before(&self, position: &Chess) -> u32 {
        self.earlier.iter().rev().find(|(earlier, _)| earlier == position).map_or(0, |(_, times)| *times)
    }

    /// Returns the end of the game, if it is over. `moves` are the legal moves.
    pub fn ending(&self, moves: &MoveList, draws: DrawRules) -> Option<Ending> {
        let position = &self.position;
        if moves.is_empty() && position.is_check() {
            Some(Ending::Checkmate)
        } else if position.is_insufficient_material() {
            Some(Ending::InsufficientMaterial)
        } else if moves.is_empty() {
            Some(Ending::Stalemate)
        } else if position.halfmoves() >= 100 || (draws == DrawRules::Claimable && self.can_reach_fifty(moves)) {
            Some(Ending::FiftyMoves)
        } else if self.occurrences >= 3 || (draws == DrawRules::Claimable && self.can_repeat(moves)) {
            Some(Ending::Threefold)
        } else {
            None
        }
    }

    /// Returns true if a move now completes fifty moves and leaves the opponent one.
    fn can_reach_fifty(&self, moves: &MoveList) -> bool {
        self.position.halfmoves() >= 99
            && moves.iter().any(|&m| !m.is_zeroing() && !self.after(m).legal_moves().is_empty())
    }

    /// Returns true if a move now leads to a position that has stood twice.
    fn can_repeat(&self, moves: &MoveList) -> bool {
        let to_move = !self.position.turn();
        self.earlier.iter().any(|(earlier, times)| *times >= 2 && earlier.turn() == to_move)
            && moves.iter().any(|&m| !m.is_zeroing() && self.times_before(&self.after(m)) >= 2)
    }

    /// The position after `m`, which must be legal.
    pub fn after(&self, m: Move) -> Chess {
        let mut next = self.position.clone();
        next.play_unchecked(m);
        next
    }

    /// The result as PGN has it, after `ending`.
    pub fn result(&self, ending: Ending) -> &'static str {
        match ending {
            Ending::Checkmate => won_by(!self.position.turn()),
            _ => "1/2-1/2",
        }
    }
}

/// The result of a game that `color` has won.
pub fn won_by(color: Color) -> &'static str {
    color.fold_wb("1-0", "0-1")
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;
    use shakmaty::san::San;

    use super::*;

    fn from_fen(fen: &str) -> GameState {
        let fen: Fen = fen.parse().unwrap();
        GameState::from(fen.into_position::<Chess>(CastlingMode::Standard).unwrap())
    }

    fn check(play: &GameState, draws: DrawRules, expected: Option<Ending>) {
        assert_eq!(play.ending(&play.position.legal_moves(), draws), expected, "{draws:?} {:?}", play.position);
    }

    fn after(mut play: GameState, moves: &str) -> GameState {
        for san in moves.split_whitespace() {
            let m = san.parse::<San>().unwrap().to_move(&play.position).unwrap();
            play.play(m);
        }
        play
    }

    #[test]
    fn mate_stalemate_and_bare_pieces() {
        let mate = after(GameState::new(), "f3 e5 g4 Qh4");
        check(&mate, DrawRules::OnBoard, Some(Ending::Checkmate));
        assert_eq!(mate.result(Ending::Checkmate), "0-1");
        check(&from_fen("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), DrawRules::OnBoard, Some(Ending::Stalemate));
        for (fen, over) in [
            ("7k/8/6K1/8/8/8/8/6N1 w - - 0 1", true),
            ("7k/8/6K1/8/8/8/n7/6N1 w - - 0 1", false),
            ("7k/8/6K1/8/8/8/8/5NN1 w - - 0 1", false),
            ("7k/8/6K1/8/8/8/b7/5B2 w - - 0 1", true),
            ("7k/8/6K1/8/8/8/b7/6B1 w - - 0 1", false),
            ("7k/8/6K1/8/8/8/P7/8 w - - 0 1", false),
        ] {
            check(&from_fen(fen), DrawRules::OnBoard, over.then_some(Ending::InsufficientMaterial));
        }
    }

    #[test]
    fn a_claim_of_fifty_moves_may_need_one_more_move() {
        let position = |clock: u32| from_fen(&format!("7k/8/8/8/8/8/R7/K7 w - - {clock} 80"));
        check(&position(98), DrawRules::Claimable, None);
        check(&position(99), DrawRules::Claimable, Some(Ending::FiftyMoves));
        check(&position(99), DrawRules::OnBoard, None);
        check(&position(100), DrawRules::OnBoard, Some(Ending::FiftyMoves));
        // No claim where only pawns can move, nor where every other move leaves the opponent without one.
        check(&from_fen("k7/8/8/8/8/p1p5/P1P4P/KB6 w - - 99 80"), DrawRules::Claimable, None);
        check(&from_fen("7k/5K1p/7P/8/8/8/8/8 w - - 99 80"), DrawRules::Claimable, Some(Ending::FiftyMoves));
        check(&from_fen("k7/p1K5/P7/8/8/8/8/8 w - - 99 80"), DrawRules::Claimable, Some(Ending::FiftyMoves));
    }

    #[test]
    fn a_claim_of_repetition_comes_one_ply_early() {
        let shuffle = "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1";
        let play = after(GameState::new(), shuffle);
        check(&play, DrawRules::OnBoard, None);
        check(&play, DrawRules::Claimable, Some(Ending::Threefold));
        let play = after(play, "Ng8");
        check(&play, DrawRules::OnBoard, Some(Ending::Threefold));
    }

    #[test]
    fn the_en_passant_square_counts_only_where_the_capture_is_legal() {
        // After e4 no black pawn can take on e3: the position after e4 counts as that after the knights' dance.
        let play = after(GameState::new(), "e4 Nf6 Nf3 Ng8 Ng1 Nf6 Nf3 Ng8 Ng1");
        check(&play, DrawRules::OnBoard, Some(Ending::Threefold));
        // Here d5xe6 is possible at first and never again: one occurrence fewer.
        let play = after(GameState::new(), "d4 Nc6 d5 e5 Nf3 Nb8 Ng1 Nc6 Nf3 Nb8 Ng1 Nc6");
        check(&play, DrawRules::OnBoard, None);
    }
}
