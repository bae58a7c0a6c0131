//! A model's moves in play.

use cwm_policy::actions::legal_actions;
use cwm_policy::answers::{MoveReading, read};
use cwm_policy::inputs::board::Board;

use crate::likelihood::{draw, ln_likelihood, ln_likelihoods_among};
use crate::{AnswerError, GamePrefix, Player};

/// An answer in play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SampledAnswer {
    /// A legal move, by its id.
    Move(u16),
    /// Another answer, in words.
    Illegal(String),
}

impl Player {
    /// The legal moves by id, ascending, each with the ln of its likelihood: of its probability among the legal moves where one
    /// token is the answer; elsewhere the sum over the tokens of its text.
    ///
    /// # Errors
    /// There is no room for an answer, or the form cannot write the game.
    pub fn legal_moves(&self, game: &GamePrefix) -> Result<Vec<(u16, f64)>, AnswerError> {
        let (so_far, first) = self.read_game(self.read_in_play(game)?);
        let legal = legal_actions(game.position());
        if self.form().end().is_none() {
            let likelihoods = ln_likelihoods_among(&first, &legal);
            return Ok(legal.into_iter().zip(likelihoods).collect());
        }
        let words: Vec<Vec<u16>> = legal.iter().map(|&action| self.words(game.position(), action)).collect();
        let given: Vec<Vec<u16>> = words.iter().map(|words| words[..words.len() - 1].to_vec()).collect();
        let likelihoods = so_far.followed_by(&given).into_iter().zip(&words).map(|(rows, words)| {
            let rows = std::iter::once(&first).chain(&rows);
            rows.zip(words).map(|(row, &token)| ln_likelihood(row, token)).sum::<f64>()
        });
        Ok(legal.into_iter().zip(likelihoods).collect())
    }

    /// An answer of which each token is drawn at `temperature`, above 0, among the 200 likeliest; `uniform` gives numbers in
    /// [0, 1).
    ///
    /// # Errors
    /// There is no room for an answer, or the form cannot write the game.
    pub fn attempt(
        &self,
        game: &GamePrefix,
        temperature: f64,
        uniform: &mut dyn FnMut() -> f64,
    ) -> Result<SampledAnswer, AnswerError> {
        let (so_far, mut logits) = self.read_game(self.read_in_play(game)?);
        let mut answer = Vec::new();
        loop {
            let likelihoods: Vec<f64> = logits.iter().map(|&logit| logit.into()).collect();
            answer.push(draw(&likelihoods, temperature, uniform()) as u16);
            if !self.is_open(&answer) {
                break;
            }
            logits = so_far.followed_by(std::slice::from_ref(&answer)).remove(0).pop().expect("an answer has a token");
        }
        let text = self.form().text(&answer);
        Ok(match read(game.position(), self.form().notation(), &text) {
            MoveReading::Legal(action) => SampledAnswer::Move(action),
            MoveReading::Illegal | MoveReading::Unreadable => SampledAnswer::Illegal(text),
        })
    }

    fn read_in_play(&self, game: &GamePrefix) -> Result<Vec<u16>, AnswerError> {
        self.read(|| Board::of(game.position()).map_err(|error| AnswerError::Form(error.to_string())), Some(game))
    }
}
