//! Restricts a model to legal moves: by attempts, or by a choice among the legal moves.

use cwm_encoding::legal;
use cwm_policy::actions::move_of;
use shakmaty::{Chess, Move, Position};

use crate::likelihood::draw;
use crate::{AnswerError, GamePrefix, Player, SampledAnswer};

/// The rules of a model's play.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayRules {
    /// The answers that a model may give to a position, at least one; nothing if it chooses among the legal moves.
    pub attempts: Option<u32>,
    /// The temperature at which an answer is drawn, above 0. Without one, that of attempt a (from 0) is
    /// min(a / 5 + 0.001, 0.5): the first answer is in effect the likeliest.
    pub temperature: Option<f64>,
}

/// The move that a model plays, and its illegal answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChosenMove {
    /// Its move; none if no attempt gave a legal one.
    pub played: Option<Move>,
    /// Its answers that are no legal move, in words.
    pub illegal: Vec<String>,
}

impl PlayRules {
    /// The temperature of an attempt, from 0.
    fn temperature(self, attempt: u32) -> f64 {
        self.temperature.unwrap_or_else(|| (f64::from(attempt) / 5.0 + 0.001).min(0.5))
    }
}

impl Player {
    /// A move in a position with a legal move. A move that `is_excluded` is played only where the model gives no other, or all
    /// legal moves are excluded; an answer that is excluded uses up an attempt. `uniform` gives numbers in [0, 1).
    ///
    /// # Errors
    /// There is no room for an answer, or the form cannot write the game.
    pub fn play(
        &self,
        rules: PlayRules,
        game: &GamePrefix,
        is_excluded: &dyn Fn(Move) -> bool,
        uniform: &mut dyn FnMut() -> f64,
    ) -> Result<ChosenMove, AnswerError> {
        let position = game.position();
        let all_are_excluded = position.legal_moves().into_iter().all(is_excluded);
        let is_excluded = |played| !all_are_excluded && is_excluded(played);
        let mut chosen = ChosenMove::default();
        let Some(attempts) = rules.attempts else {
            let moves = self.legal_moves(game)?.into_iter().map(|(action, ln)| (move_of_action(position, action), ln));
            let (moves, likelihoods): (Vec<Move>, Vec<f64>) = moves.filter(|(played, _)| !is_excluded(*played)).unzip();
            chosen.played = Some(moves[draw(&likelihoods, rules.temperature(0), uniform())]);
            return Ok(chosen);
        };
        for attempt in 0..attempts {
            match self.attempt(game, rules.temperature(attempt), uniform)? {
                SampledAnswer::Illegal(answer) => chosen.illegal.push(answer),
                SampledAnswer::Move(action) => {
                    let played = move_of_action(position, action);
                    if !is_excluded(played) {
                        chosen.played = Some(played);
                        break;
                    }
                    // A legal answer does not lose the game.
                    chosen.played.get_or_insert(played);
                }
            }
        }
        Ok(chosen)
    }
}

fn move_of_action(position: &Chess, action: u16) -> Move {
    move_of(action).and_then(|plain| legal(position, plain)).expect("the action is a legal move")
}

#[cfg(test)]
mod tests {
    use cwm_models::device;

    use super::*;
    use crate::Form;
    use crate::sample::write_checkpoint;

    #[test]
    fn temperatures_rise_unless_one_is_given() {
        let rules = PlayRules { attempts: Some(5), temperature: None };
        let rising: Vec<f64> = (0..5).map(|attempt| rules.temperature(attempt)).collect();
        assert_eq!(rising, [0.001, 0.201, 0.401, 0.5, 0.5]);
        assert_eq!(PlayRules { temperature: Some(2.0), ..rules }.temperature(4), 2.0);
    }

    #[test]
    fn excluded_moves_are_played_only_where_there_is_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        write_checkpoint(&path, Form::Board, "d32/l1", "none", 1).unwrap();
        let player = Player::open(&path, &device::cpu()).unwrap();
        let (rules, game) = (PlayRules { attempts: None, temperature: None }, GamePrefix::default());
        let play =
            |is_excluded: &dyn Fn(Move) -> bool| player.play(rules, &game, is_excluded, &mut || 0.5).unwrap().played;
        for only in game.position().legal_moves() {
            assert_eq!(play(&|played| played != only), Some(only));
        }
        let likeliest = play(&|_| false);
        assert!(likeliest.is_some());
        assert_eq!(play(&|_| true), likeliest);
    }
}
