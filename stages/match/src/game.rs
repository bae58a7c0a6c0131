//! One game between two players.

use cwm_contract::{Context, Failure};
use cwm_game::{DrawRules, Ending, StreamRng};
use cwm_matches::End;
use shakmaty::{ByColor, Color, Move, Position};

use crate::board::Board;
use crate::side::{MoveChoice, Side};

/// A game that has been played.
#[derive(Debug)]
pub struct PlayedGame {
    /// All moves, those of the opening included.
    pub moves: Vec<Move>,
    /// The reason for its end.
    pub end: End,
    /// `None` if it is a draw.
    pub winner: Option<Color>,
    /// Answers of the models that were no legal move.
    pub illegal_attempts: u32,
}

impl PlayedGame {
    /// `1-0`, `0-1` or `1/2-1/2`.
    pub fn result(&self) -> &'static str {
        self.winner.map_or("1/2-1/2", cwm_game::won_by)
    }
}

/// Plays a game from an opening to its end: by the rules of chess, or because it is too long, or has a player without a
/// move. No score ends it.
///
/// # Errors
/// An engine fails, or the stage was cancelled; the message begins with the ply.
pub fn play(
    context: &Context,
    opening: &[Move],
    mut sides: ByColor<&mut Side<'_>>,
    max_plies: u32,
    random: &mut StreamRng,
) -> Result<PlayedGame, Failure> {
    let mut board = Board::after(opening);
    let mut illegal_attempts = 0;
    let (end, winner) = loop {
        context.check_cancelled()?;
        let turn = board.position().turn();
        if let Some(ending) = board.state.ending(&board.position().legal_moves(), DrawRules::OnBoard) {
            break (end_of(ending), (ending == Ending::Checkmate).then_some(!turn));
        }
        if board.moves().len() >= max_plies as usize {
            break (End::MaxPlies, None);
        }
        match sides.get_mut(turn).choose(&board, random, &mut illegal_attempts) {
            Ok(MoveChoice::Move(played)) => board.play(played),
            Ok(MoveChoice::NoLegalMove) => break (End::Attempts, Some(!turn)),
            Ok(MoveChoice::ContextFull) => break (End::Context, None),
            Err(failure) => {
                let message = format!("ply {}: {}", board.moves().len(), failure.message);
                return Err(Failure { message, ..failure });
            }
        }
    };
    Ok(PlayedGame { moves: board.moves().to_vec(), end, winner, illegal_attempts })
}

fn end_of(ending: Ending) -> End {
    match ending {
        Ending::Checkmate => End::Mate,
        Ending::InsufficientMaterial => End::Material,
        Ending::Stalemate => End::Stalemate,
        Ending::FiftyMoves => End::Fifty,
        Ending::Threefold => End::Threefold,
    }
}
