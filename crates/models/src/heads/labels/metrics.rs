//! Counts how right a model is (models.md §1.4).

use super::{GROUPS, LABELS, LOGITS, SPANS, denominator};

/// The score of the prediction of one position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PositionScore {
    /// Bit i says whether label i is right.
    pub right: u128,
    /// Sum of the 75 cross-entropies, natural logarithm.
    pub loss_sum: f64,
}

impl PositionScore {
    /// Scores the logits [1878] of a position against its labels [75]: arg-max by label, the first class winning ties; a
    /// label with a NaN among its logits is wrong. The loss is computed in f64.
    pub fn new(logits: &[f32], labels: &[u8]) -> Self {
        debug_assert!(logits.len() == LOGITS && labels.len() == LABELS);
        let mut score = PositionScore { right: 0, loss_sum: 0.0 };
        for (i, (&(start, classes), &label)) in SPANS.iter().zip(labels).enumerate() {
            let logits = &logits[start..start + classes];
            let mut best = 0;
            for (class, &logit) in logits.iter().enumerate() {
                if logit > logits[best] {
                    best = class;
                }
            }
            if best == usize::from(label) && !logits.iter().any(|logit| logit.is_nan()) {
                score.right |= 1 << i;
            }
            let largest = f64::from(logits[best]);
            let sum: f64 = logits.iter().map(|&logit| (f64::from(logit) - largest).exp()).sum();
            score.loss_sum += largest + sum.ln() - f64::from(logits[usize::from(label)]);
        }
        score
    }

    /// Returns the number of right labels, 0 to 75.
    pub fn correct(&self) -> u32 {
        self.right.count_ones()
    }

    /// Returns true if all labels are right.
    pub fn is_exact(&self) -> bool {
        self.correct() as usize == LABELS
    }

    /// Returns the number of right labels of each kind, in the order of [`GROUPS`].
    pub fn hits(&self) -> [u8; GROUPS.len()] {
        GROUPS.map(|group| {
            let mask = ((1u128 << group.labels) - 1) << group.first;
            (self.right & mask).count_ones() as u8
        })
    }
}

/// Counts over positions and games.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LabelTotals {
    /// Positions counted.
    pub positions: u64,
    /// Labels that were right.
    pub correct: u64,
    /// Positions with all labels right.
    pub exact: u64,
    /// Sum of cross-entropies.
    pub loss_sum: f64,
    /// Games counted.
    pub games: u64,
    /// Games with all positions exact.
    pub exact_games: u64,
}

impl LabelTotals {
    /// Counts the positions of one game, in order.
    pub fn add_game(&mut self, positions: &[PositionScore]) {
        for position in positions {
            self.positions += 1;
            self.correct += u64::from(position.correct());
            self.exact += u64::from(position.is_exact());
            self.loss_sum += position.loss_sum;
        }
        self.games += 1;
        self.exact_games += u64::from(positions.iter().all(PositionScore::is_exact));
    }

    /// Mean cross-entropy per label.
    pub fn loss(&self) -> f64 {
        self.loss_sum / denominator(self.positions as usize)
    }

    /// Share of labels that are right.
    pub fn labelwise(&self) -> f64 {
        share(self.correct, self.positions * LABELS as u64)
    }

    /// Share of positions with all labels right.
    pub fn exact(&self) -> f64 {
        share(self.exact, self.positions)
    }

    /// Share of games with all positions exact.
    pub fn trajectory(&self) -> f64 {
        share(self.exact_games, self.games)
    }
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

#[cfg(test)]
mod tests {
    use cwm_contract::testing::shared;

    use super::*;

    #[test]
    fn the_authors_summary_comes_out() {
        let Some(file) = shared("parity/metrics.json") else { return };
        let golden: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let bin = golden["bin_size"].as_u64().unwrap() as usize;
        let mut whole = LabelTotals::default();
        let mut bins = std::collections::BTreeMap::<usize, LabelTotals>::new();
        let array = |value: &serde_json::Value| value.as_array().unwrap().clone();
        let bytes = |value: &serde_json::Value| -> Vec<u8> {
            array(value).iter().map(|label| label.as_u64().unwrap() as u8).collect()
        };
        for batch in array(&golden["batches"]) {
            let games = array(&batch["pred"]).into_iter().zip(array(&batch["target"])).zip(array(&batch["pad"]));
            for ((predictions, targets), pad) in games {
                let mut scores = Vec::new();
                for (t, pad) in array(&pad).iter().enumerate().filter(|(_, pad)| pad.as_u64() == Some(0)) {
                    let _ = pad;
                    let mut logits = vec![0.0; LOGITS];
                    for (&(start, _), class) in SPANS.iter().zip(bytes(&predictions[t])) {
                        logits[start + usize::from(class)] = 3.0;
                    }
                    let score = PositionScore::new(&logits, &bytes(&targets[t]));
                    bins.entry(t / bin).or_default().add_game(&[score]);
                    scores.push(score);
                }
                whole.add_game(&scores);
            }
        }
        let summary = |name: &str| golden["summary"][name].as_f64().unwrap();
        assert!((whole.loss() - summary("val/loss")).abs() < 1e-6, "{}", whole.loss());
        assert!((whole.exact() - summary("val/overall/full_exact")).abs() < 1e-12);
        assert!((whole.labelwise() - summary("val/overall/partial_exact")).abs() < 3e-7);
        assert!((whole.trajectory() - summary("val/game_exact")).abs() < 1e-12);
        assert_eq!(whole.games as f64, summary("val/game_exact_denom"));
        for (index, tally) in bins {
            let name = |what: &str| format!("val/bin{:03}-{:03}/{what}", index * bin, (index + 1) * bin);
            assert_eq!(tally.positions as f64, summary(&name("n")));
            assert!((tally.exact() - summary(&name("full_exact"))).abs() < 1e-12);
            assert!((tally.labelwise() - summary(&name("partial_exact"))).abs() < 3e-7);
        }
    }

    #[test]
    fn the_first_class_wins_ties_and_nan_is_wrong() {
        let mut logits = vec![0.0; LOGITS];
        let score = PositionScore::new(&logits, &[0; LABELS]);
        assert!(score.is_exact());
        assert_eq!(score.hits(), [64, 1, 4, 1, 1, 2, 2]);
        logits[LOGITS - 1] = f32::NAN;
        let score = PositionScore::new(&logits, &[0; LABELS]);
        assert_eq!((score.correct(), score.right >> 74), (74, 0));
        assert_eq!(score.hits(), [64, 1, 4, 1, 1, 2, 1]);
        assert!(score.loss_sum.is_nan());
    }
}
