//! The tokens that a model reads before it answers.

use cwm_encoding::PlainMove;
use cwm_policy::actions::{legal_actions, move_of};
use cwm_policy::inputs::board::Board;
use cwm_policy::inputs::characters::{self, MoveText};
use cwm_policy::inputs::{moves, prompt};
use shakmaty::san::SanPlus;
use shakmaty::{Chess, Move};

use crate::{Form, GamePrefix, Player};

/// A reason for which a model cannot answer in a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// The game is too long for it.
    #[error("the game has no room for an answer within the {0} tokens that the model reads")]
    ContextFull(usize),
    /// Its form cannot write this position or game.
    #[error("{0}")]
    Form(String),
}

/// A position as a model reads it, with the right answer.
#[derive(Clone, Debug)]
pub struct Question {
    /// The tokens before the answer.
    pub(crate) tokens: Vec<u16>,
    /// The tokens of the right answer.
    pub(crate) right: Vec<u16>,
    /// The legal moves, ascending.
    pub(crate) legal: Vec<u16>,
}

impl Question {
    /// Number of tokens that a model reads to give a forced answer.
    pub fn tokens(&self) -> usize {
        self.tokens.len() + self.right.len() - 1
    }
}

impl Player {
    /// The question for the best move of a position, where `best`, the id of a legal move, is the right answer. Forms that read
    /// games take `game`, the others `board`, which may write an en passant square or numbers of its own.
    ///
    /// # Errors
    /// There is no room for an answer, the form cannot write the game, or it needs a game and there is none.
    ///
    /// # Panics
    /// `best` is not legal.
    pub fn question(&self, board: &Board, game: Option<&GamePrefix>, best: u16) -> Result<Question, AnswerError> {
        let legal = legal_actions(board.position());
        assert!(legal.contains(&best), "move {best} is not legal");
        Ok(Question {
            tokens: self.read(|| Ok(board.clone()), game)?,
            right: self.words(board.position(), best),
            legal,
        })
    }

    /// The tokens before an answer, with room for it.
    pub(crate) fn read(
        &self,
        board: impl FnOnce() -> Result<Board, AnswerError>,
        game: Option<&GamePrefix>,
    ) -> Result<Vec<u16>, AnswerError> {
        let tokens = match self.form() {
            Form::Board => std::iter::once(0).chain(board()?.ids().map(u16::from)).collect(),
            Form::Prompt => ids(prompt::ids(&prompt::question_in_play(&board()?))),
            Form::Characters => ids(characters::ids(&MoveText::before_next(from_initial_position(game)?))),
            Form::Moves => moves::ids(from_initial_position(game)?.map(PlainMove::from)),
        };
        let answer = self.form().end().map_or(1, |(_, most)| most);
        let context = self.context();
        if tokens.len() + answer - 1 > context { Err(AnswerError::ContextFull(context)) } else { Ok(tokens) }
    }

    /// The tokens of a legal move as an answer.
    pub(crate) fn words(&self, position: &Chess, action: u16) -> Vec<u16> {
        let plain = move_of(action).expect("a legal move is an action");
        match self.form() {
            Form::Board | Form::Moves => vec![action],
            Form::Prompt => ids(prompt::ids(&format!("{plain}$"))),
            Form::Characters => {
                let played = cwm_encoding::legal(position, plain).expect("the move is legal");
                let san = SanPlus::from_move(position.clone(), played);
                ids(characters::ids(&format!("{san} ")))
            }
        }
    }
}

/// The moves of a game that a form writes from the first on.
fn from_initial_position(game: Option<&GamePrefix>) -> Result<impl Iterator<Item = Move> + '_, AnswerError> {
    let game = game.ok_or_else(|| AnswerError::Form("the model reads games, and none is given".to_owned()))?;
    if *game.start() == Chess::default() {
        return Ok(game.moves().iter().copied());
    }
    Err(AnswerError::Form(
        "the model reads games from the initial position on, and this one begins at another".to_owned(),
    ))
}

fn ids(found: Result<Vec<u8>, char>) -> Vec<u16> {
    found.expect("the form has no other characters").into_iter().map(u16::from).collect()
}
