//! A model's moves in play.

use cwm_models::batch::cut_by_length;
use cwm_policy::actions::legal_actions;
use cwm_policy::answers::{Reading, read};
use cwm_policy::inputs::board::Board;

use crate::likelihood::{draw, ln_likelihood, ln_likelihoods_among};
use crate::{CannotAnswer, GameSoFar, Player};

/// Padded tokens of a pass in which legal moves are compared.
const BATCH_TOKENS: usize = 8_192;

/// An answer in play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
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
    pub fn legal_moves(&self, game: &GameSoFar) -> Result<Vec<(u16, f64)>, CannotAnswer> {
        let tokens = self.read_in_play(game)?;
        let legal = legal_actions(game.position());
        if self.form().end().is_none() {
            let logits = self.logits(&[tokens], &[1]);
            let likelihoods = ln_likelihoods_among(&logits[0][0], &legal);
            return Ok(legal.into_iter().zip(likelihoods).collect());
        }
        let words: Vec<Vec<u16>> = legal.iter().map(|&action| self.words(game.position(), action)).collect();
        let sequences: Vec<Vec<u16>> =
            words.iter().map(|words| [tokens.as_slice(), &words[..words.len() - 1]].concat()).collect();
        let lengths: Vec<usize> = sequences.iter().map(Vec::len).collect();
        let mut likelihoods = vec![0.0; legal.len()];
        for cut in cut_by_length(&lengths, BATCH_TOKENS) {
            let batch: Vec<Vec<u16>> = cut.iter().map(|&place| sequences[place].clone()).collect();
            let last: Vec<usize> = cut.iter().map(|&place| words[place].len()).collect();
            for (&place, rows) in cut.iter().zip(self.logits(&batch, &last)) {
                likelihoods[place] =
                    rows.iter().zip(&words[place]).map(|(row, &token)| ln_likelihood(row, token)).sum();
            }
        }
        Ok(legal.into_iter().zip(likelihoods).collect())
    }

    /// An answer of which each token is drawn at `temperature`, above 0, among the 200 likeliest; `uniform` gives numbers in
    /// [0, 1).
    ///
    /// # Errors
    /// There is no room for an answer, or the form cannot write the game.
    pub fn attempt(
        &self,
        game: &GameSoFar,
        temperature: f64,
        uniform: &mut dyn FnMut() -> f64,
    ) -> Result<Attempt, CannotAnswer> {
        let tokens = self.read_in_play(game)?;
        let mut answer = Vec::new();
        while self.is_open(&answer) {
            let logits = self.logits(&[[tokens.as_slice(), &answer].concat()], &[1]);
            let logits: Vec<f64> = logits[0][0].iter().map(|&logit| logit.into()).collect();
            answer.push(draw(&logits, temperature, uniform()) as u16);
        }
        let text = self.form().text(&answer);
        Ok(match read(game.position(), self.form().notation(), &text) {
            Reading::Legal(action) => Attempt::Move(action),
            Reading::Illegal | Reading::Unreadable => Attempt::Illegal(text),
        })
    }

    fn read_in_play(&self, game: &GameSoFar) -> Result<Vec<u16>, CannotAnswer> {
        self.read(|| Board::of(game.position()).map_err(|error| CannotAnswer::Form(error.to_string())), Some(game))
    }
}
