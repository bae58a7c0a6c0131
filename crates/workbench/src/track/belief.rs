//! What a model's logits say of a position, label by label.

use cwm_contract::{Belief, Doubt, Misbelief, Played, Seen, StateItem, Tracked};
use cwm_encoding::LABELS;
use cwm_inspect::fen;
use cwm_models::heads::SPANS;

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

/// What is told of a position: `logits` [1878] beside its labels.
pub fn tracked(ply: u64, played: Option<Played>, logits: &[f32], truth: &[u8; LABELS]) -> Tracked {
    let beliefs: Vec<(u8, Vec<f64>)> =
        SPANS.iter().map(|&(start, classes)| read(&logits[start..start + classes])).collect();
    let mut believed = [0; LABELS];
    for (label, (class, _)) in believed.iter_mut().zip(&beliefs) {
        *label = *class;
    }
    let is_wrong = |label: usize| {
        let (class, shares) = &beliefs[label];
        *class != truth[label] || shares[usize::from(*class)].is_nan()
    };
    let share = |label: usize, class: u8| beliefs[label].1.get(usize::from(class)).copied().unwrap_or(f64::NAN);
    let wrong = (0..LABELS).filter(|&label| is_wrong(label));
    let wrong = wrong.map(|label| Misbelief {
        label: name(label),
        believed: Belief { value: value(label, believed[label]), share: share(label, believed[label]) },
        truth: Belief { value: value(label, truth[label]), share: share(label, truth[label]) },
    });
    let wrong: Vec<Misbelief> = wrong.collect();
    let least = (0..LABELS).min_by(|&a, &b| share(a, believed[a]).total_cmp(&share(b, believed[b]))).unwrap_or(0);
    Tracked {
        ply,
        played,
        believed: seen(&believed, is_wrong),
        truth: seen(truth, |_| false),
        right: (LABELS - wrong.len()) as u32,
        labels: LABELS as u32,
        wrong,
        sure: (0..LABELS).map(|label| share(label, believed[label])).product(),
        least_sure: Doubt {
            label: name(least),
            belief: Belief { value: value(least, believed[least]), share: share(least, believed[least]) },
        },
    }
}

/// The class with the largest logit, the first of equals, and the share that each class has of the belief.
fn read(logits: &[f32]) -> (u8, Vec<f64>) {
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

fn seen(labels: &[u8; LABELS], is_wrong: impl Fn(usize) -> bool) -> Seen {
    let squares = (0..SQUARES).map(|label| (value(label, labels[label]), is_wrong(label)));
    let state = STATE.iter().map(|&(name, first, count)| StateItem {
        name,
        value: item(name, &labels[first..first + count]),
        wrong: (first..first + count).any(&is_wrong),
    });
    Seen { fen: fen(labels), squares: squares.collect(), state: state.collect() }
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

/// What a label is called: `e4`, `castling K`.
fn name(label: usize) -> String {
    match label.checked_sub(SQUARES) {
        None => format!("{}{}", char::from(b'a' + (label % 8) as u8), 8 - label / 8),
        Some(other) => NAMES[other].to_owned(),
    }
}

/// What a class of a label is called.
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
    use cwm_models::metrics::PositionScore;
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
            let tracked = tracked(0, None, &logits, &truth);
            prop_assert_eq!(tracked.right, PositionScore::new(&logits, &truth).correct());
            prop_assert_eq!(tracked.right as usize + tracked.wrong.len(), LABELS);
            let marked = tracked.believed.squares.iter().filter(|(_, wrong)| *wrong).count();
            prop_assert_eq!(marked, tracked.wrong.iter().filter(|wrong| wrong.label.len() == 2).count());
        }
    }
}
