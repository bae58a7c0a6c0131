//! The moves of a model: by attempts, or among the legal moves; with or without repetitions.

use cwm_contract::Failure;
use cwm_encoding::legal;
use cwm_game::GameStream;
use cwm_player::{Attempt, CannotAnswer, Player, draw};
use cwm_policy::actions::move_of;
use cwm_random::Random;
use shakmaty::{Chess, Move, Position};

use crate::board::Board;
use crate::config::Config;
use crate::seat::Answer;

/// How models play.
#[derive(Clone, Copy, Debug)]
pub struct ModelRules {
    /// The answers that a model may give; nothing if it chooses among the legal moves.
    attempts: Option<u32>,
    temperature: Option<f64>,
    avoids_repetition: bool,
}

impl ModelRules {
    /// As the parameters have it.
    pub fn of(config: &Config) -> Self {
        ModelRules {
            attempts: (!config.has_mask()).then_some(config.attempts),
            temperature: config.temperature,
            avoids_repetition: config.repetition == "avoid",
        }
    }

    /// The answer of a model; `illegal` counts its answers that are no legal move.
    ///
    /// # Errors
    /// The model cannot read the game, however long it may be.
    pub fn answer(
        self,
        player: &Player,
        board: &Board,
        random: &mut GameStream,
        illegal: &mut u32,
    ) -> Result<Answer, Failure> {
        let answer = match self.attempts {
            Some(attempts) => self.attempt(attempts, player, board, random, illegal),
            None => self.among_legal(player, board, random),
        };
        answer.or_else(|fault| match fault {
            CannotAnswer::ContextFull(_) => Ok(Answer::ContextFull),
            CannotAnswer::Form(what) => Err(Failure::internal(what)),
        })
    }

    fn attempt(
        self,
        attempts: u32,
        player: &Player,
        board: &Board,
        random: &mut GameStream,
        illegal: &mut u32,
    ) -> Result<Answer, CannotAnswer> {
        let mut repeated = None;
        for attempt in 0..attempts {
            match player.attempt(&board.game, self.temperature(attempt), &mut || uniform(random))? {
                Attempt::Illegal(_) => *illegal += 1,
                Attempt::Move(action) => {
                    let played = move_of_action(board.position(), action)?;
                    if !self.is_struck(board, played) {
                        return Ok(Answer::Move(played));
                    }
                    repeated.get_or_insert(played);
                }
            }
        }
        // A legal answer does not lose the game.
        Ok(repeated.map_or(Answer::NoLegalMove, Answer::Move))
    }

    fn among_legal(self, player: &Player, board: &Board, random: &mut GameStream) -> Result<Answer, CannotAnswer> {
        let mut moves = Vec::new();
        for (action, likelihood) in player.legal_moves(&board.game)? {
            let played = move_of_action(board.position(), action)?;
            if !self.is_struck(board, played) {
                moves.push((played, likelihood));
            }
        }
        let likelihoods: Vec<f64> = moves.iter().map(|(_, likelihood)| *likelihood).collect();
        let drawn = draw(&likelihoods, self.temperature(0), uniform(random));
        Ok(Answer::Move(moves[drawn].0))
    }

    /// The temperature of an attempt, from 0.
    fn temperature(self, attempt: u32) -> f64 {
        self.temperature.unwrap_or_else(|| (f64::from(attempt) / 5.0 + 0.001).min(0.5))
    }

    /// True if a legal move may not be played, because it would make a position stand for the third time and another move
    /// would not.
    fn is_struck(self, board: &Board, played: Move) -> bool {
        let state = &board.state;
        let repeats = |played: Move| !played.is_zeroing() && state.times_before(&state.after(played)) >= 2;
        self.avoids_repetition && repeats(played) && !state.position().legal_moves().into_iter().all(repeats)
    }
}

fn move_of_action(position: &Chess, action: u16) -> Result<Move, CannotAnswer> {
    let played = move_of(action).and_then(|plain| legal(position, plain));
    played.ok_or_else(|| CannotAnswer::Form(format!("the model's move {action} is not legal")))
}

/// A number in [0, 1), of 53 bits.
fn uniform(random: &mut GameStream) -> f64 {
    let (high, low) = (u64::from(random.next() >> 5), u64::from(random.next() >> 6));
    (high << 26 | low) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(temperature: Option<f64>, avoids_repetition: bool) -> ModelRules {
        ModelRules { attempts: Some(5), temperature, avoids_repetition }
    }

    #[test]
    fn temperatures_rise_unless_one_is_given() {
        let rising: Vec<f64> = (0..5).map(|attempt| rules(None, false).temperature(attempt)).collect();
        assert_eq!(rising, [0.001, 0.201, 0.401, 0.5, 0.5]);
        assert_eq!(rules(Some(2.0), false).temperature(4), 2.0);
    }

    #[test]
    fn a_third_repetition_is_struck_while_there_is_another_move() {
        let mut board = Board::default();
        for word in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"] {
            let word: shakmaty::uci::UciMove = word.parse().unwrap();
            board.play(word.to_move(board.position()).unwrap());
        }
        let played = |word: &str| word.parse::<shakmaty::uci::UciMove>().unwrap().to_move(board.position()).unwrap();
        assert!(rules(None, true).is_struck(&board, played("f6g8")));
        assert!(!rules(None, true).is_struck(&board, played("f6d5")));
        assert!(!rules(None, false).is_struck(&board, played("f6g8")));
    }

    #[test]
    fn uniform_numbers_are_below_one_and_about_a_half_on_average() {
        let mut random = GameStream::new("test", "0", 0);
        let numbers: Vec<f64> = (0..10_000).map(|_| uniform(&mut random)).collect();
        assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)));
        assert!((numbers.iter().sum::<f64>() / 10_000.0 - 0.5).abs() < 0.02);
    }
}
