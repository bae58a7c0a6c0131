//! A game as a model reads it.

use crate::Task;

/// The phase of every token of a state model, which has none.
pub const NO_PHASE: u8 = u8::MAX;

/// A game as the tokens that a model reads, with what each of them means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Tokens, the one that begins a game first.
    pub tokens: Vec<u16>,
    /// What was just read: 0 and 1 origin and target of white, 2 and 3 of black, 4 a promotion piece, 5 the begin token;
    /// [`NO_PHASE`] throughout for a state model.
    pub phases: Vec<u8>,
    /// Plies played on the board after all moves that are complete at each token.
    pub plies_after: Vec<u32>,
    /// Plies played on the board before the move that each token belongs to.
    pub plies_before: Vec<u32>,
}

impl Reading {
    /// The reading of a game of a dataset, given as its move tokens.
    ///
    /// # Errors
    /// The tokens are no moves after a START token; in words, to be put behind the game's name.
    pub fn of(task: Task, moves: &[u16]) -> Result<Self, String> {
        match task {
            Task::State => {
                let plies_after: Vec<u32> = (0..moves.len() as u32).collect();
                Ok(Reading {
                    tokens: moves.to_vec(),
                    phases: vec![NO_PHASE; moves.len()],
                    plies_before: plies_after.iter().map(|ply| ply.saturating_sub(1)).collect(),
                    plies_after,
                })
            }
            Task::Moves => Err("words are not there yet".to_owned()),
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
        self.plies_after.truncate(length);
        self.plies_before.truncate(length);
    }
}

