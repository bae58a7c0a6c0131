//! Predictions of a position from a model's logits, label by label.

use cwm_encoding::LABELS;
use cwm_inspect::fen;
use cwm_models::heads::labels::SPANS;

use super::position_prediction::{
    BoardPrediction, LabelError, LabelPrediction, LeastConfident, PositionView, ProbedBoard, StateField,
};

/// The squares, a8 first.
const SQUARES: usize = 64;
/// Labels that people take for one thing, after the squares: its name, the first label, how many.
const STATE: [(&str, usize, usize); 5] =
    [("to move", 64, 1), ("castling", 65, 4), ("en passant", 69, 2), ("half-moves", 71, 2), ("full move", 73, 2)];
/// Names of the labels that are no squares.
const NAMES: [&str; LABELS - SQUARES] = [
    "side to move",
    "castling K",
    "castling Q",
    "castling k",
    "castling q",
    "en passant file",
    "en passant rank",
    "half-move clock, high byte",
    "half-move clock, low byte",
    "full-move number, high byte",
    "full-move number, low byte",
];

/// Compares the prediction of `logits` [1878] with the labels of the position.
pub fn predict(logits: &[f32], truth: &[u8; LABELS]) -> BoardPrediction {
    let distributions: Vec<(u8, Vec<f64>)> =
        SPANS.iter().map(|&(start, classes)| distribution(&logits[start..start + classes])).collect();
    let mut predicted = [0; LABELS];
    for (label, (class, _)) in predicted.iter_mut().zip(&distributions) {
        *label = *class;
    }
    let is_wrong = |label: usize| {
        let (class, probabilities) = &distributions[label];
        *class != truth[label] || probabilities[usize::from(*class)].is_nan()
    };
    let probability =
        |label: usize, class: u8| distributions[label].1.get(usize::from(class)).copied().unwrap_or(f64::NAN);
    let wrong = (0..LABELS).filter(|&label| is_wrong(label));
    let wrong = wrong.map(|label| LabelError {
        label: name(label),
        predicted: LabelPrediction {
            value: value(label, predicted[label]),
            probability: probability(label, predicted[label]),
        },
        truth: LabelPrediction { value: value(label, truth[label]), probability: probability(label, truth[label]) },
    });
    let wrong: Vec<LabelError> = wrong.collect();
    let least =
        (0..LABELS).min_by(|&a, &b| probability(a, predicted[a]).total_cmp(&probability(b, predicted[b]))).unwrap_or(0);
    BoardPrediction {
        predicted: view(&predicted, is_wrong),
        correct: (LABELS - wrong.len()) as u32,
        labels: LABELS as u32,
        errors: wrong,
        joint_probability: (0..LABELS).map(|label| probability(label, predicted[label])).product(),
        least_confident: LeastConfident {
            label: name(least),
            prediction: LabelPrediction {
                value: value(least, predicted[least]),
                probability: probability(least, predicted[least]),
            },
        },
    }
}

/// The class with the largest logit, the first of equals, and the probability of each class.
pub fn distribution(logits: &[f32]) -> (u8, Vec<f64>) {
    let mut best = 0;
    for (class, &logit) in logits.iter().enumerate() {
        if logit > logits[best] {
            best = class;
        }
    }
    let largest = f64::from(logits[best]);
    let weights: Vec<f64> = logits.iter().map(|&logit| (f64::from(logit) - largest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    (best as u8, weights.into_iter().map(|weight| weight / sum).collect())
}

/// The true position.
pub fn truth(labels: &[u8; LABELS]) -> PositionView {
    view(labels, |_| false)
}

/// The board that a linear probe reads, given as the labels of its squares [64], beside the labels of the position.
pub fn probed(layer: usize, board: &[u8], truth: &[u8; LABELS]) -> ProbedBoard {
    let mut labels = [0; LABELS];
    labels[..SQUARES].copy_from_slice(board);
    let mut seen = view(&labels, |label| labels[label] != truth[label]);
    // It reads nothing else.
    seen.state.clear();
    seen.fen.truncate(seen.fen.find(' ').unwrap_or(seen.fen.len()));
    let correct = seen.squares.iter().filter(|(_, wrong)| !wrong).count() as u32;
    ProbedBoard { layer: layer as u64, board: seen, correct }
}

fn view(labels: &[u8; LABELS], is_wrong: impl Fn(usize) -> bool) -> PositionView {
    let squares = (0..SQUARES).map(|label| (value(label, labels[label]), is_wrong(label)));
    let state = STATE.iter().map(|&(name, first, count)| StateField {
        name,
        value: item(name, &labels[first..first + count]),
        wrong: (first..first + count).any(&is_wrong),
    });
    PositionView { fen: fen(labels), squares: squares.collect(), state: state.collect() }
}

/// Several labels as people write them together.
fn item(name: &str, labels: &[u8]) -> String {
    match (name, labels) {
        ("castling", rights) => {
            let rights: String =
                rights.iter().zip("KQkq".chars()).filter(|(has, _)| **has != 0).map(|(_, c)| c).collect();
            if rights.is_empty() { "-".into() } else { rights }
        }
        ("en passant", &[0, 0]) => "-".into(),
        ("en passant", &[file, rank]) => value(69, file) + &value(70, rank),
        (_, &[high, low]) => u16::from_be_bytes([high, low]).to_string(),
        (_, labels) => labels.first().map(|&side| value(SQUARES, side)).unwrap_or_default(),
    }
}

/// Returns the name of a label: `e4`, `castling K`.
fn name(label: usize) -> String {
    match label.checked_sub(SQUARES) {
        None => format!("{}{}", char::from(b'a' + (label % 8) as u8), 8 - label / 8),
        Some(other) => NAMES[other].to_owned(),
    }
}

/// Returns the name of a class of a label.
fn value(label: usize, class: u8) -> String {
    let of = |names: &[&str]| names.get(usize::from(class)).copied().unwrap_or("?").to_owned();
    match label {
        0..SQUARES => of(&[".", "P", "N", "B", "R", "Q", "K", "p", "n", "b", "r", "q", "k"]),
        64 => of(&["white", "black"]),
        65..69 => of(&["no", "yes"]),
        69 => of(&["-", "a", "b", "c", "d", "e", "f", "g", "h"]),
        70 => of(&["-", "3", "6"]),
        _ => class.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use cwm_encoding::{EnPassant, LOGITS, labels_of};
    use cwm_models::heads::labels::PositionScore;
    use proptest::prelude::*;
    use shakmaty::Chess;

    use super::*;

    #[test]
    fn every_label_has_a_name_of_its_own() {
        let mut names: Vec<String> = (0..LABELS).map(name).collect();
        assert_eq!((names[0].as_str(), names[63].as_str(), names[64].as_str()), ("a8", "h1", "side to move"));
        names.sort();
        names.dedup();
        assert_eq!(names.len(), LABELS);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn what_is_wrong_is_what_the_metrics_count(
            logits in prop::collection::vec(prop_oneof![9 => -4f32..4.0, 1 => Just(f32::NAN)], LOGITS),
        ) {
            let truth = labels_of(&Chess::default(), EnPassant::Always);
            let tracked = predict(&logits, &truth);
            prop_assert_eq!(tracked.correct, PositionScore::new(&logits, &truth).correct());
            prop_assert_eq!(tracked.correct as usize + tracked.errors.len(), LABELS);
            let marked = tracked.predicted.squares.iter().filter(|(_, wrong)| *wrong).count();
            prop_assert_eq!(marked, tracked.errors.iter().filter(|wrong| wrong.label.len() == 2).count());
        }
    }
}
