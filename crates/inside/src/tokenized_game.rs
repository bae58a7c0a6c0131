//! A game as a model reads it.

use cwm_contract::Failure;
use cwm_encoding::{PlainMove, START};
use cwm_policy::inputs::words::{Phase, Words};

use crate::ModelTask;

/// A game as the tokens that a model reads, with what each of them means; the lists have one entry a token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenizedGame {
    /// Tokens, the one that begins a game first.
    pub tokens: Vec<u16>,
    /// The phase of each token; `None` throughout for a state model, which reads whole moves.
    pub phases: Vec<Option<Phase>>,
    /// Plies that are complete at each token.
    pub after: Vec<u32>,
    /// Plies before the move that each token belongs to.
    pub before: Vec<u32>,
}

/// The failure for a game that a stage trains on and would measure on.
pub fn overlapping_game(id: &str) -> Failure {
    Failure::input(format!("game {id} is among the games to train on, and is to be measured on"))
        .hint("give `test` other games than `train`, such as `split`'s validation")
}

/// The note about the games of an input that a stage drops; `None` if there is none.
pub fn dropped(input: &str, too_long: u64, other_rules: u64) -> Option<String> {
    (too_long + other_rules > 0).then(|| {
        format!("input `{input}`: {too_long} games too long for the model and {other_rules} of other rules are dropped")
    })
}

impl TokenizedGame {
    /// A game of a dataset as a model reads it, given as its move tokens.
    ///
    /// # Errors
    /// The tokens are no moves behind a START token; in words, to be put behind the game's name.
    pub fn of(task: ModelTask, game: &[u16]) -> Result<Self, String> {
        match task {
            ModelTask::State => Ok(TokenizedGame {
                tokens: game.to_vec(),
                phases: vec![None; game.len()],
                after: (0..game.len() as u32).collect(),
                before: (0..game.len() as u32).map(|ply| ply.saturating_sub(1)).collect(),
            }),
            ModelTask::Moves => {
                let moves = game.strip_prefix(&[START]).ok_or("it does not begin with the START token")?;
                let plain =
                    |token: &u16| PlainMove::from_token(*token).ok_or_else(|| format!("token {token} is not a move"));
                let words = Words::of(moves.iter().map(plain).collect::<Result<Vec<_>, _>>()?);
                Ok(TokenizedGame {
                    tokens: words.ids,
                    phases: words.phases.into_iter().map(Some).collect(),
                    after: words.after,
                    before: words.before,
                })
            }
        }
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// True without a token.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Keeps the first `length` tokens.
    pub fn truncate(&mut self, length: usize) {
        self.tokens.truncate(length);
        self.phases.truncate(length);
        self.after.truncate(length);
        self.before.truncate(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_model_reads_plies_and_a_move_model_reads_words() {
        // e2e4, d7d5.
        let game = [START, (12 * 64 + 28) * 5, (51 * 64 + 35) * 5];
        let state = TokenizedGame::of(ModelTask::State, &game).unwrap();
        assert_eq!(
            (&state.tokens[..], &state.after[..], &state.before[..]),
            (&game[..], &[0, 1, 2][..], &[0, 0, 1][..])
        );
        let mut words = TokenizedGame::of(ModelTask::Moves, &game).unwrap();
        assert_eq!(words.tokens, [1, 16, 32, 55, 39]);
        assert_eq!(words.after, [0, 0, 1, 1, 2]);
        assert_eq!(words.before, [0, 0, 0, 1, 1]);
        words.truncate(2);
        assert_eq!((words.len(), words.phases[1]), (2, Some(Phase::WhiteOrigin)));
        assert_eq!(TokenizedGame::of(ModelTask::Moves, &[3]).unwrap_err(), "it does not begin with the START token");
        assert_eq!(TokenizedGame::of(ModelTask::Moves, &[START, START]).unwrap_err(), "token 20480 is not a move");
    }
}
