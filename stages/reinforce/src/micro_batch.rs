//! Answers of some groups as passes through the model.

use cwm_models::batch::cut_by_length;
use cwm_models::heads::choice::{MicroBatch, NONE};
use cwm_policy_gradient::{Objective, has_signal};

use crate::rollouts::Group;

/// Answers that go through the model together; the numbers are by generated word, answer by answer.
#[derive(Clone, Debug)]
pub struct AnswerBatch {
    /// The words, with the generated ones as targets.
    pub answers: MicroBatch,
    /// The advantage of the word's answer.
    pub advantages: Vec<f32>,
    /// The weight of the word in the loss.
    pub weights: Vec<f32>,
    /// Log-probabilities under the weights that sampled the words.
    pub old: Vec<f32>,
    /// Log-probabilities under the weights at the start, where the loss needs them.
    pub start: Option<Vec<f32>>,
}

/// The answers of the groups of an update.
#[derive(Debug)]
pub struct Update {
    /// The answers with a gradient: of groups whose rewards differ.
    pub with_signal: Vec<AnswerBatch>,
    /// The others, which count in the measures of the policy alone.
    pub without_signal: Vec<AnswerBatch>,
}

/// The settings by which the answers of an update become passes: equal for all updates.
#[derive(Clone, Copy, Debug)]
pub struct MicroBatchOptions {
    /// The objective.
    pub objective: Objective,
    /// Words of an answer, at most.
    pub max_tokens: usize,
    /// Padded words of a pass, at most.
    pub micro_batch_tokens: usize,
    /// The word that pads; any will do.
    pub padding: u32,
}

impl MicroBatchOptions {
    /// The answers of these groups, cut by length; their log-probabilities are not known yet.
    pub fn update(&self, groups: &[Group<'_>]) -> Update {
        let lengths: Vec<usize> = groups.iter().flat_map(|group| &group.rollouts).map(|one| one.words.len()).collect();
        let weights = self.objective.token_weights(&lengths, self.max_tokens);
        let (mut advantages, mut is_learnt, mut sequences) = (Vec::new(), Vec::new(), Vec::new());
        for group in groups {
            let rewards = group.rewards();
            advantages.extend(self.objective.advantages(&rewards));
            is_learnt.extend(rewards.iter().map(|_| has_signal(&rewards)));
            sequences.extend(group.rollouts.iter().map(|rollout| sequence(&group.question.prompt, &rollout.words)));
        }
        let sequences: Vec<(&[u16], &[u16])> =
            sequences.iter().map(|(words, targets)| (words.as_slice(), targets.as_slice())).collect();
        let batches = |with_signal: bool| -> Vec<AnswerBatch> {
            let chosen: Vec<usize> = (0..sequences.len()).filter(|&answer| is_learnt[answer] == with_signal).collect();
            let read: Vec<usize> = chosen.iter().map(|&answer| sequences[answer].0.len()).collect();
            let cuts = cut_by_length(&read, self.micro_batch_tokens);
            cuts.iter()
                .map(|cut| {
                    let chosen: Vec<usize> = cut.iter().map(|&place| chosen[place]).collect();
                    let by_word = |by_answer: &[f64]| -> Vec<f32> {
                        chosen.iter().flat_map(|&answer| vec![by_answer[answer] as f32; lengths[answer]]).collect()
                    };
                    AnswerBatch {
                        answers: MicroBatch::new(&sequences, &chosen, self.padding),
                        advantages: by_word(&advantages),
                        weights: by_word(&weights),
                        old: Vec::new(),
                        start: None,
                    }
                })
                .collect()
        };
        Update { with_signal: batches(true), without_signal: batches(false) }
    }
}

/// Returns the words of a prompt and its answer that the model reads, and as many targets: the answer's words, each at
/// the place before it. The last word is not read.
fn sequence(prompt: &[u16], answer: &[u16]) -> (Vec<u16>, Vec<u16>) {
    let read = answer.len().saturating_sub(1);
    let mut targets = vec![NONE; prompt.len() - 1];
    targets.extend(answer);
    ([prompt, &answer[..read]].concat(), targets)
}
