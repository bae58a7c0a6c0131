//! The values of the legal moves of a position: their win probabilities.

mod metadata;
mod scaling;

use cwm_contract::Failure;
use cwm_encoding::PlainMove;
use cwm_evaluations::{Evaluation, NEPERS_PER_CENTIPAWN};

pub use scaling::Scaling;

/// The centipawns of a win probability, as a whole number; infinite for a certain end.
pub(crate) fn centipawns(win: f64) -> f64 {
    ((win / (1. - win)).ln() / NEPERS_PER_CENTIPAWN).round()
}

/// The legal moves of a position (UCI) with the win probability of the side to move after each, in an order that decides between
/// equals: [`Values::of_evaluation`] has that of their texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Values(Vec<(String, f64)>);

impl Values {
    /// The values of these moves, in this order.
    ///
    /// # Errors
    ///
    /// There is no move; a move is there twice; a value is not between 0 and 1.
    pub fn new(moves: Vec<(String, f64)>) -> Result<Values, String> {
        if moves.is_empty() {
            return Err("there is no move with a value".to_owned());
        }
        for (at, (uci, win)) in moves.iter().enumerate() {
            if !(0. ..=1.).contains(win) {
                return Err(format!("the value {win} of {uci} is no win probability: it must lie between 0 and 1"));
            }
            if moves[..at].iter().any(|(other, _)| other == uci) {
                return Err(format!("the move {uci} has two values"));
            }
        }
        Ok(Values(moves))
    }

    /// The values of an evaluation that has a line with a score for every legal move; none if it lacks one. Values have twelve
    /// digits after the point, as items do.
    ///
    /// # Errors
    ///
    /// Its FEN is no position of a game.
    pub fn of_evaluation(evaluation: &Evaluation) -> Result<Option<Values>, Failure> {
        let position = cwm_questions::truth::Position::of_fen(&evaluation.fen).map_err(Failure::input)?;
        let mut values = Vec::with_capacity(position.moves().len());
        for &legal in position.moves() {
            let packed = PlainMove::from(legal).packed();
            let line = evaluation.lines.iter().find(|line| line.moves.first() == Some(&packed));
            let Some(score) = line.and_then(|line| line.score) else { return Ok(None) };
            values.push((PlainMove::from(legal).to_string(), (score.win_probability() * 1e12).round() / 1e12));
        }
        values.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok((!values.is_empty()).then_some(Values(values)))
    }

    /// The moves with their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(uci, win)| (uci.as_str(), *win))
    }

    /// The number of moves.
    #[allow(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The place of a move in the order.
    pub(crate) fn place(&self, uci: &str) -> Option<usize> {
        self.0.iter().position(|(known, _)| known == uci)
    }

    /// The value at a place.
    pub(crate) fn win(&self, at: usize) -> f64 {
        self.0[at].1
    }

    /// The move of the least value, the first of equals.
    pub fn worst(&self) -> (&str, f64) {
        let (first, others) = (&self.0[0], &self.0[1..]);
        let (uci, win) = others.iter().fold(first, |worst, next| if next.1 < worst.1 { next } else { worst });
        (uci, *win)
    }

    /// The move of the greatest value, the first of equals.
    pub fn best(&self) -> (&str, f64) {
        let (first, others) = (&self.0[0], &self.0[1..]);
        let (uci, win) = others.iter().fold(first, |best, next| if next.1 > best.1 { next } else { best });
        (uci, *win)
    }
}

#[cfg(test)]
mod tests;
