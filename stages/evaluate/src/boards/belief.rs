//! What is believed of a position, where that is not the truth.

use cwm_encoding::{LABELS, LOGITS};
use cwm_models::batch::MicroBatch;
use cwm_models::heads::SPANS;
use cwm_models::metrics::PositionScore;
use cwm_models::{Network, Pass, Placed};

/// The labels of a position that are not right, in their order, each with the class that is believed in its place; with
/// none where a NaN among its logits leaves nothing to believe.
pub type Wrong = Vec<(u8, Option<u8>)>;

/// The labels in which `believed` differs from `labels`, both [75].
pub fn wrong(believed: &[u8], labels: &[u8]) -> Wrong {
    let differ = |&(_, (said, truth)): &(usize, (&u8, &u8))| said != truth;
    let pairs = believed.iter().zip(labels).enumerate().filter(differ);
    pairs.map(|(label, (&said, _))| (label as u8, Some(said))).collect()
}

/// The labels in which the arg-max of `logits` [1878] differs from `labels` [75], as [`PositionScore::new`] counts them:
/// the first class wins ties, and a label with a NaN among its logits is wrong.
fn wrong_of_logits(logits: &[f32], labels: &[u8]) -> Wrong {
    let mut wrong = Wrong::new();
    for (label, (&(start, classes), &truth)) in SPANS.iter().zip(labels).enumerate() {
        let logits = &logits[start..start + classes];
        let best = (0..classes).fold(0, |best, class| if logits[class] > logits[best] { class } else { best });
        let believed = (!logits.iter().any(|logit| logit.is_nan())).then_some(best as u8);
        if believed != Some(truth) {
            wrong.push((label as u8, believed));
        }
    }
    wrong
}

/// Scores of all real positions of each game of `games`, as [`cwm_models::scoring::score`] gives them, and what the same
/// logits believe of each.
///
/// The logits come to the processor, wherever they were computed. There a loss is the same to the bit; a GPU adds up its
/// own in another order, so that the last digits of these games' losses may be others than it would have found.
pub fn score_and_believe(
    network: &Network,
    placed: &Placed<'_>,
    games: &MicroBatch,
) -> Vec<(Vec<PositionScore>, Vec<Wrong>)> {
    let logits = network.flat_logits(&Pass::evaluation(placed), &games.tokens).into_data();
    let logits = logits.as_slice::<f32>().expect("logits are f32 and contiguous");
    let time = games.tokens.time();
    let of_row = |row: usize| {
        let logits = &logits[row * LOGITS..(row + 1) * LOGITS];
        let labels = &games.targets.labels[row * LABELS..(row + 1) * LABELS];
        (PositionScore::new(logits, labels), wrong_of_logits(logits, labels))
    };
    let of_game = |(game, &length): (usize, &usize)| (game * time..game * time + length).map(of_row).unzip();
    games.tokens.lengths().iter().enumerate().map(of_game).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong is what the score's bits say is wrong.
    #[track_caller]
    fn check(logits: &[f32], labels: &[u8]) -> Wrong {
        let wrong = wrong_of_logits(logits, labels);
        let bits = wrong.iter().fold(0u128, |bits, (label, _)| bits | 1 << label);
        assert_eq!(bits, !PositionScore::new(logits, labels).right & ((1 << LABELS) - 1));
        wrong
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
        let mut said = [1u8; LABELS];
        said[7] = 3;
        said[73] = 200;
        assert_eq!(wrong(&said, &[1; LABELS]), [(7, Some(3)), (73, Some(200))]);
    }
}
