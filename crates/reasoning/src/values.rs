//! What every legal move of a position is worth: its win probability.

use cwm_contract::Failure;
use cwm_encoding::PlainMove;
use cwm_evaluations::{Evaluation, Score};
use serde_json::Value;

/// Nepers of the odds of winning for a centipawn: the published values are whole centipawns by this number.
const SCALE: f64 = 0.003_682_08;

/// The win probability of a value, for the same side.
pub fn win_probability(score: Score) -> f64 {
    match score {
        Score::Centipawns(centipawns) => 1. / (1. + (-SCALE * f64::from(centipawns)).exp()),
        Score::Mate(moves) => f64::from(moves > 0),
    }
}

/// The centipawns of a win probability, as a whole number; infinite for a certain end.
pub(crate) fn centipawns(win: f64) -> f64 {
    ((win / (1. - win)).ln() / SCALE).round()
}

/// `part` of `whole`; 0 of nothing.
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0. } else { part as f64 / whole as f64 }
}

/// How a legal move is rewarded by what the legal moves are worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scaling {
    /// From 0 for the least value to 1 for the greatest.
    #[default]
    Normalise,
    /// From 1 for the first of the moves by descending value to 0 for the last, in equal steps.
    Linear,
}

impl Scaling {
    /// Both.
    pub const ALL: [Scaling; 2] = [Scaling::Normalise, Scaling::Linear];

    /// The name in pipelines.
    pub fn name(self) -> &'static str {
        match self {
            Scaling::Normalise => "normalise",
            Scaling::Linear => "linear",
        }
    }

    /// The scaling of this name.
    pub fn of_name(name: &str) -> Option<Scaling> {
        Scaling::ALL.into_iter().find(|scaling| scaling.name() == name)
    }
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

    /// The values of an item: an object with a number for each of the `legal` moves. The order is that of the moves' texts.
    ///
    /// # Errors
    ///
    /// It is no such object; those of [`Values::new`].
    pub(crate) fn of_json(values: &Value, legal: &[String]) -> Result<Values, String> {
        let values = values.as_object().ok_or("its `values` are no object of moves and win probabilities")?;
        let number = |(uci, win): (&String, &Value)| {
            let win = win.as_f64().ok_or_else(|| format!("the value {win} of {uci} is no number"))?;
            Ok((uci.clone(), win))
        };
        let values = Values::new(values.iter().map(number).collect::<Result<_, String>>()?)?;
        if let Some(missing) = legal.iter().find(|uci| values.place(uci).is_none()) {
            return Err(format!("its `values` lack the legal move {missing}"));
        }
        if let Some((illegal, _)) = values.iter().find(|(uci, _)| !legal.iter().any(|legal| legal == uci)) {
            return Err(format!("its `values` have {illegal}, which is not legal"));
        }
        Ok(values)
    }

    /// The values as an item has them.
    pub(crate) fn to_json(&self) -> Value {
        Value::Object(self.iter().map(|(uci, win)| (uci.to_owned(), win.into())).collect())
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

    /// 1 less the share of the other moves that are worth more than the one at this place; 1 for an only move.
    pub(crate) fn rank(&self, at: usize) -> f64 {
        let better = self.iter().filter(|(_, win)| *win > self.win(at)).count();
        1. - share(better, self.len() - 1)
    }

    /// The reward of the move at this place.
    pub(crate) fn scaled(&self, at: usize, scaling: Scaling, cut: f64) -> f64 {
        let (worst, best) = (self.worst().1, self.best().1);
        let scaled = match scaling {
            Scaling::Normalise if best == worst => 1.,
            Scaling::Normalise => (self.win(at) - worst) / (best - worst),
            Scaling::Linear => {
                let is_before = |other: &usize| {
                    self.win(*other) > self.win(at) || (self.win(*other) == self.win(at) && *other < at)
                };
                1. - share((0..self.len()).filter(is_before).count(), self.len() - 1)
            }
        };
        if scaled < cut { 0. } else { scaled }
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
mod tests {
    use cwm_evaluations::Line;
    use serde::Deserialize;
    use shakmaty::uci::UciMove;

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
            }
        }
    }
    /// A position with four legal moves.
    const FEN: &str = "8/8/8/8/8/1k6/8/3K4 w - - 0 1";

    fn evaluation(scores: &[(&str, Option<Score>)]) -> Evaluation {
        let position = golden::position(FEN);
        let line = |(uci, score): &(&str, Option<Score>)| Line {
            score: *score,
            depth: None,
            moves: vec![PlainMove::from(uci.parse::<UciMove>().unwrap().to_move(&position).unwrap()).packed()],
        };
        let lines = scores.iter().map(line).collect();
        Evaluation { record: 0, game: None, id: String::new(), t: None, fen: FEN.to_owned(), lines }
    }

    #[test]
    fn an_evaluation_of_every_legal_move_has_values() {
        let level = Some(Score::Centipawns(0));
        let mut scores =
            [("d1e2", level), ("d1c1", level), ("d1d2", Some(Score::Mate(3))), ("d1e1", Some(Score::Mate(-1)))];
        let values = Values::of_evaluation(&evaluation(&scores)).unwrap().unwrap();
        let expected =
            [("d1c1", 0.5), ("d1d2", 1.), ("d1e1", 0.), ("d1e2", 0.5)].map(|(uci, win)| (uci.to_owned(), win));
        assert_eq!(values, Values::new(expected.to_vec()).unwrap());
        assert_eq!(values.best(), ("d1d2", 1.));
        scores[0].1 = None;
        assert_eq!(Values::of_evaluation(&evaluation(&scores)).unwrap(), None);
        assert_eq!(Values::of_evaluation(&evaluation(&scores[1..])).unwrap(), None);
    }

    #[test]
    fn bad_values_are_reported() {
        let fault = |moves: &[(&str, f64)]| {
            Values::new(moves.iter().map(|(uci, win)| ((*uci).to_owned(), *win)).collect()).unwrap_err()
        };
        assert_eq!(fault(&[]), "there is no move with a value");
        assert_eq!(fault(&[("e2e4", 0.5), ("e2e4", 0.6)]), "the move e2e4 has two values");
        let expected = "the value 1.5 of e2e4 is no win probability: it must lie between 0 and 1";
        assert_eq!(fault(&[("e2e4", 1.5)]), expected);
    }
}
