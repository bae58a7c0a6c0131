//! The metrics of a model's answers.

use cwm_models::heads::choice::Score;
use cwm_sequences::Vocabulary;
use cwm_training::Metrics;
use cwm_training::curves::number;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Forms in which all targets of a sequence are one answer, in several tokens. In others each target is one.
const ONE_ANSWER: [&str; 1] = ["prompt"];

/// The targets that are one answer together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerUnit {
    /// Each target alone.
    Target,
    /// All of a sequence.
    Sequence,
}

impl AnswerUnit {
    /// The answer of the sequences of a vocabulary.
    pub fn of(vocabulary: &Vocabulary) -> Self {
        if ONE_ANSWER.contains(&vocabulary.form.as_str()) { AnswerUnit::Sequence } else { AnswerUnit::Target }
    }
}

/// The counts of a validation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChoiceMetrics {
    answers: u64,
    /// Answers of which each target was the likeliest.
    best: u64,
    loss_sum: f64,
}

impl ChoiceMetrics {
    /// Counts a sequence, whose targets have these scores.
    pub fn add(&mut self, scores: &[Score], answer: AnswerUnit) {
        let size = if answer == AnswerUnit::Sequence { scores.len() } else { 1 };
        for scores in scores.chunks(size.max(1)) {
            self.answers += 1;
            self.best += u64::from(scores.iter().all(|score| score.is_likeliest));
            self.loss_sum += scores.iter().map(|score| score.loss).sum::<f64>();
        }
    }

    /// Share of answers that are right.
    fn best(&self) -> f64 {
        self.best as f64 / self.answers.max(1) as f64
    }
}

/// The counts as a checkpoint has them; the sum of losses by its bits, so that it reads back unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedMetrics {
    step: u64,
    answers: u64,
    best: u64,
    loss_bits: u64,
}

impl Metrics for ChoiceMetrics {
    type SavedMetrics = SavedMetrics;

    fn loss(&self) -> f64 {
        self.loss_sum / self.answers.max(1) as f64
    }

    fn entries(&self) -> Vec<(&'static str, Value)> {
        vec![("loss", number(self.loss())), ("best", number(self.best())), ("positions", json!(self.answers))]
    }

    fn progress(&self) -> Vec<(&'static str, f64)> {
        vec![("loss", self.loss()), ("best", self.best())]
    }

    fn save(&self, step: u64) -> SavedMetrics {
        let ChoiceMetrics { answers, best, loss_sum } = *self;
        SavedMetrics { step, answers, best, loss_bits: loss_sum.to_bits() }
    }

    fn restore(saved: SavedMetrics) -> (u64, Self) {
        let SavedMetrics { step, answers, best, loss_bits } = saved;
        (step, ChoiceMetrics { answers, best, loss_sum: f64::from_bits(loss_bits) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(answer: AnswerUnit) -> ChoiceMetrics {
        let score = |loss, is_likeliest| Score { loss, is_likeliest };
        let mut metrics = ChoiceMetrics::default();
        metrics.add(&[score(1.0, true), score(2.0, false), score(3.0, true)], answer);
        metrics.add(&[score(6.0, true)], answer);
        metrics
    }

    #[test]
    fn an_answer_is_a_target_or_all_of_a_sequence() {
        let text = |answer| format!("{:?}", metrics(answer).entries());
        let entries = |loss: f64, best: f64, positions: u64| {
            format!("{:?}", vec![("loss", json!(loss)), ("best", json!(best)), ("positions", json!(positions))])
        };
        assert_eq!(text(AnswerUnit::Target), entries(3.0, 0.75, 4));
        assert_eq!(text(AnswerUnit::Sequence), entries(6.0, 0.5, 2));
    }

    #[test]
    fn metrics_read_back_bit_for_bit() {
        let metrics = ChoiceMetrics { answers: 7, best: 3, loss_sum: 0.1 + 0.2 };
        let text = serde_json::to_string(&metrics.save(9)).unwrap();
        assert_eq!(ChoiceMetrics::restore(serde_json::from_str(&text).unwrap()), (9, metrics));
    }
}
