//! The wrong predictions of a position.

use cwm_encoding::{LABELS, LOGITS};
use cwm_models::heads::labels::{MicroBatch, PositionScore, SPANS};
use cwm_models::{DeviceWeights, ForwardPass, Network};

/// The labels of a position that are not right, in their order, each with the class that is predicted in its place; none
/// if one of its logits is NaN.
pub type WrongLabels = Vec<(u8, Option<u8>)>;

/// The labels in which `predicted` differs from `labels`, both [75].
pub fn wrong_labels(predicted: &[u8], labels: &[u8]) -> WrongLabels {
    let differ = |&(_, (predicted, truth)): &(usize, (&u8, &u8))| predicted != truth;
    let pairs = predicted.iter().zip(labels).enumerate().filter(differ);
    pairs.map(|(label, (&predicted, _))| (label as u8, Some(predicted))).collect()
}

/// The labels of a position whose bits in its score, `right`, are not set, each with the class that `logits` [1878]
/// predict in place of that in `labels` [75]: the largest of the other classes, the first where several are.
///
/// If the score was made of these logits this is their arg-max. A device that does not repeat itself to the last
/// digit may find the truth the largest after all; the bits count, so that boards and scores never disagree.
fn wrong_of_logits(logits: &[f32], labels: &[u8], right: u128) -> WrongLabels {
    let mut wrong = WrongLabels::new();
    for (label, (&(start, classes), &truth)) in SPANS.iter().zip(labels).enumerate() {
        if right >> label & 1 == 1 {
            continue;
        }
        let logits = &logits[start..start + classes];
        let others = (0..classes).filter(|&class| class != usize::from(truth));
        let largest = others.reduce(|best, class| if logits[class] > logits[best] { class } else { best });
        let predicted = largest.filter(|_| !logits.iter().any(|logit| logit.is_nan()));
        wrong.push((label as u8, predicted.map(|class| class as u8)));
    }
    wrong
}

/// Returns the wrong labels in each position of the games at `places` of `games`, to which `scores` belong, as
/// [`cwm_models::heads::labels::score`] gives them.
///
/// The games go through the model once more, in the same micro-batch, and of the logits only the rows of these games come
/// to the CPU. So scores are what they are without boards, wherever they were computed.
pub fn find_wrong_labels(
    network: &Network,
    device_weights: &DeviceWeights<'_>,
    games: &MicroBatch,
    scores: &[Vec<PositionScore>],
    places: &[usize],
) -> Vec<Vec<WrongLabels>> {
    let all = network.flat_logits(&ForwardPass::evaluation(device_weights), &games.tokens);
    let of_game = |&place: &usize| -> Vec<WrongLabels> {
        let scores = &scores[place];
        let first = place * games.tokens.time();
        let last = first + scores.len();
        let logits = all.clone().slice([first..last, 0..LOGITS]).into_data();
        let logits = logits.as_slice::<f32>().expect("logits are f32 and contiguous");
        let labels = &games.targets.labels[first * LABELS..last * LABELS];
        let positions = logits.chunks_exact(LOGITS).zip(labels.chunks_exact(LABELS)).zip(scores);
        positions.map(|((logits, labels), score)| wrong_of_logits(logits, labels, score.right)).collect()
    };
    places.iter().map(of_game).collect()
}

#[cfg(test)]
mod tests {
    use cwm_encoding::{START, VOCABULARY};
    use cwm_models::heads::labels::{self, score};
    use cwm_models::ops::decomposed;
    use cwm_models::{Architecture, device};

    use super::*;

    /// The labels that are wrong, as bits.
    fn bits(wrong: &[(u8, Option<u8>)]) -> u128 {
        wrong.iter().fold(0u128, |bits, (label, _)| bits | 1 << label)
    }

    /// The score's bits are those of the right labels; the prediction is the first of the largest logits.
    #[track_caller]
    fn check(logits: &[f32], labels: &[u8]) -> WrongLabels {
        let right = PositionScore::new(logits, labels).right;
        let wrong = wrong_of_logits(logits, labels, right);
        assert_eq!(bits(&wrong), !right & ((1 << LABELS) - 1));
        for &(label, predicted) in &wrong {
            let (start, classes) = SPANS[usize::from(label)];
            let of = &logits[start..start + classes];
            // None is at least as large as a NaN.
            let largest = of.iter().position(|one| of.iter().all(|other| one >= other));
            assert_eq!(predicted.map(usize::from), largest, "label {label}");
        }
        wrong
    }

    #[test]
    fn what_the_score_calls_wrong_is_never_believed_to_be_the_truth() {
        let mut logits = vec![0.0f32; LOGITS];
        logits[SPANS[3].0] = 1.0;
        logits[SPANS[3].0 + 5] = 0.999_999;
        assert_eq!(check(&logits, &[0; LABELS]), []);
        assert_eq!(wrong_of_logits(&logits, &[0; LABELS], !(1 << 3)), [(3, Some(5))]);
    }

    /// All operations are decomposed, as on a GPU: the wrong labels are those of the scores of the micro-batch, and
    /// their classes those of the game alone.
    #[test]
    fn beliefs_fit_the_scores_that_another_device_computed() {
        let network = labels::network(Architecture {
            family: "transformer".into(),
            size: "d16/l1".parse().unwrap(),
            vocabulary: VOCABULARY,
            dropout: 0.0,
            options: Default::default(),
        })
        .unwrap();
        let weights = network.initial_weights(7);
        let device_weights = DeviceWeights::new(&weights, &device::cpu());
        let (short, long): ([u16; 3], [u16; 6]) = ([START, 5, 90], [START, 90, 5, 700, 8, 31]);
        let games: [&[u16]; 2] = [&short, &long];
        let batch = |chosen: &[usize]| {
            let ones = |_: usize, labels: &mut [u8]| -> Result<(), ()> {
                labels.fill(1);
                Ok(())
            };
            MicroBatch::labelled(&games, chosen, ones).unwrap()
        };
        decomposed(|| {
            let both = batch(&[1, 0]);
            let scores = score(&network, &device_weights, &both);
            let predicted = find_wrong_labels(&network, &device_weights, &both, &scores, &[0, 1]);
            for (place, length) in [(0, 6), (1, 3)] {
                assert_eq!(predicted[place].len(), length);
                for (wrong, score) in predicted[place].iter().zip(&scores[place]) {
                    assert_eq!(bits(wrong), !score.right & ((1 << LABELS) - 1));
                    assert!(wrong.len() > 10, "a model without training believes little");
                }
            }
            assert_eq!(find_wrong_labels(&network, &device_weights, &both, &scores, &[1]), predicted[1..]);
            let alone = batch(&[0]);
            let scores = score(&network, &device_weights, &alone);
            assert_eq!(find_wrong_labels(&network, &device_weights, &alone, &scores, &[0]), predicted[1..]);
        });
    }

    #[test]
    fn ties_go_to_the_first_class_and_nan_leaves_no_belief() {
        let mut logits = vec![0.0f32; LOGITS];
        let labels = [0u8; LABELS];
        assert_eq!(check(&logits, &labels), []);
        logits[SPANS[3].0 + 5] = 1.0;
        logits[SPANS[3].0 + 7] = 1.0;
        logits[SPANS[74].0 + 255] = f32::INFINITY;
        logits[SPANS[70].0 + 2] = f32::NAN;
        logits[SPANS[64].0..SPANS[64].0 + 2].fill(f32::NEG_INFINITY);
        assert_eq!(check(&logits, &labels), [(3, Some(5)), (70, None), (74, Some(255))]);
        logits.fill(f32::NAN);
        assert_eq!(check(&logits, &labels).len(), LABELS);
    }

    #[test]
    fn random_logits_with_many_ties_agree_with_the_score() {
        // Few values: a linear congruence, whose high bits are taken.
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 24
        };
        for _ in 0..50 {
            let logits: Vec<f32> = (0..LOGITS).map(|_| (next() % 4) as f32).collect();
            let labels: Vec<u8> = SPANS.iter().map(|&(_, classes)| (next() as usize % classes.min(4)) as u8).collect();
            let wrong = check(&logits, &labels);
            assert!(wrong.len() > 10 && wrong.len() < LABELS, "{}", wrong.len());
        }
    }

    #[test]
    fn classes_of_another_program_are_compared_one_by_one() {
        let mut predicted = [1u8; LABELS];
        predicted[7] = 3;
        predicted[73] = 200;
        assert_eq!(wrong_labels(&predicted, &[1; LABELS]), [(7, Some(3)), (73, Some(200))]);
    }
}
