use cwm_evaluations::{Line, Score};
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
    assert!(!rows.is_empty());
    for Golden { cp, mate, win } in rows {
        for ((cp, mate), win) in cp.into_iter().zip(mate).zip(win) {
            let score = cp.map(Score::Centipawns).or(mate.map(Score::Mate)).unwrap();
            assert!((score.win_probability() - win).abs() < 1e-12, "{score:?}: {win}");
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
    let expected = [("d1c1", 0.5), ("d1d2", 1.), ("d1e1", 0.), ("d1e2", 0.5)].map(|(uci, win)| (uci.to_owned(), win));
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
