use cwm_evaluations::Score;
use serde::Deserialize;

use super::*;
use crate::golden;
use crate::values::Scaling;

#[derive(Deserialize)]
struct Golden {
    id: usize,
    moves: Vec<String>,
    rank: Vec<f64>,
    scaled: Vec<f64>,
    scaled_linear: Vec<f64>,
    trivial: Vec<bool>,
    loss: Vec<f64>,
}

#[derive(Deserialize)]
struct GoldenValues {
    moves: Vec<String>,
    cp: Vec<Option<i32>>,
    mate: Vec<Option<i32>>,
}

#[test]
fn golden_measures() {
    let Some(rows) = golden::lines::<Golden>("quality.jsonl") else { return };
    let all = golden::lines::<GoldenValues>("values.jsonl").unwrap();
    assert!(!rows.is_empty());
    let near = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
    for row in rows {
        let GoldenValues { moves, cp, mate } = &all[row.id];
        assert_eq!(moves, &row.moves);
        let score = |(cp, mate): (&Option<i32>, &Option<i32>)| cp.map(Score::Centipawns).or(mate.map(Score::Mate));
        let win: Vec<f64> = cp.iter().zip(mate).map(|scores| score(scores).unwrap().win_probability()).collect();
        let values = Values::new(moves.iter().cloned().zip(win.iter().copied()).collect()).unwrap();
        for at in 0..moves.len() {
            let measures = MoveMeasures::of(&values, &moves[at]);
            assert!(near(measures.rank.unwrap(), row.rank[at]));
            assert!(near(measures.win_loss.unwrap(), row.loss[at]));
            assert_eq!(measures.trivial, Some(row.trivial[at]));
            assert!(near(values.scaled(at, Scaling::Normalise, 0.3), row.scaled[at]));
            assert!(near(values.scaled(at, Scaling::Linear, 0.3), row.scaled_linear[at]), "{} {}", row.id, moves[at]);
            if let Some(cp) = cp[at].filter(|cp| cp.abs() < 5_000) {
                assert_eq!(crate::values::centipawns(win[at]), f64::from(cp));
            }
        }
    }
}

#[test]
fn centipawns_are_bounded() {
    let values = [("a", 0.5), ("b", 1.), ("c", 0.), ("d", 0.508_280_1)];
    let values = Values::new(values.map(|(uci, win)| (uci.to_owned(), win)).to_vec()).unwrap();
    let loss = |uci| MoveMeasures::of(&values, uci).cp_loss.unwrap();
    assert_eq!([loss("a"), loss("b"), loss("c"), loss("d")], [1_000., 0., 1_000., 991.]);
    assert_eq!(MoveMeasures::of(&values, "e"), MoveMeasures::default());
}
