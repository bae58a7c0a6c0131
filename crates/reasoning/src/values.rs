//! What every legal move of a position is worth: its win probability.

use cwm_contract::Failure;
use cwm_encoding::PlainMove;
use cwm_evaluations::{Evaluation, Score};

/// Nepers of the odds of winning for a centipawn: the published values are whole centipawns by this number.
const SCALE: f64 = 0.003_682_08;

/// The win probability of a value, for the same side.
pub fn win_probability(score: Score) -> f64 {
    match score {
        Score::Centipawns(centipawns) => 1. / (1. + (-SCALE * f64::from(centipawns)).exp()),
        Score::Mate(moves) => f64::from(moves > 0),
    }
}

/// The centipawns of a win probability, at most 1,000 for either side; mates are 1,000.
pub fn centipawns(win: f64) -> f64 {
    ((win / (1. - win)).ln() / SCALE).round().clamp(-1000., 1000.)
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
    /// There is none; a move is there twice; a value is not between 0 and 1.
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

    /// The values of an evaluation that has a line with a score for every legal move; none if it lacks one. Values have twelve digits
    /// after the point, as items do.
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
            values.push((PlainMove::from(legal).to_string(), (win_probability(score) * 1e12).round() / 1e12));
        }
        values.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok((!values.is_empty()).then_some(Values(values)))
    }

    /// Moves and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(uci, win)| (uci.as_str(), *win))
    }

    /// How many moves there are, at least one.
    #[allow(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The value of a move, if it is legal.
    pub fn of(&self, uci: &str) -> Option<f64> {
        self.iter().find(|(other, _)| *other == uci).map(|(_, win)| win)
    }

    /// The move of the greatest value, the first of equals.
    pub fn best(&self) -> (&str, f64) {
        self.first_by(|win, best| win > best)
    }

    /// The move of the least value, the first of equals.
    pub fn worst(&self) -> (&str, f64) {
        self.first_by(|win, worst| win < worst)
    }

    fn first_by(&self, is_better: impl Fn(f64, f64) -> bool) -> (&str, f64) {
        let first = (self.0[0].0.as_str(), self.0[0].1);
        self.iter().skip(1).fold(first, |found, next| if is_better(next.1, found.1) { next } else { found })
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::golden;

    #[derive(Deserialize)]
    struct Golden {
        cp: Vec<Option<i32>>,
        mate: Vec<Option<i32>>,
        win: Vec<f64>,
    }

    #[test]
    fn golden_win_probabilities() {
        let Some(rows) = golden::lines::<Golden>("values.jsonl") else { return };
        assert_eq!(rows.len(), 60);
        for Golden { cp, mate, win } in rows {
            for ((cp, mate), win) in cp.into_iter().zip(mate).zip(win) {
                let score = cp.map(Score::Centipawns).or(mate.map(Score::Mate)).unwrap();
                assert!((win_probability(score) - win).abs() < 1e-12, "{score:?}: {win}");
                let back = cp.map_or(if win > 0.5 { 1000. } else { -1000. }, |cp| f64::from(cp).clamp(-1000., 1000.));
                assert_eq!(centipawns(win), back);
            }
        }
    }
}
