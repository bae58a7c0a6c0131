//! Some of the sampled answers, from all steps: the output `answers`.

use std::path::Path;

use cwm_answers::{Answer, AnswersWriter, PlayerSettings};
use cwm_contract::{Context, Failure};
use cwm_journal::Journal;
use serde::{Deserialize, Serialize};

use crate::rollouts::Group;

/// An answer as it is kept until the training ends.
#[derive(Debug, Serialize, Deserialize)]
struct KeptAnswer {
    number: usize,
    task_id: String,
    text: String,
    is_truncated: bool,
    prompt_words: u64,
    words: u64,
}

/// The first answer to each of some items, evenly from all that are trained on.
pub struct AnswerJournal {
    journal: Journal<KeptAnswer>,
    /// Number of answers that are kept.
    count: u64,
    /// Number of items.
    items: u64,
}

impl AnswerJournal {
    /// Opens the answers that an earlier run kept; at most `wanted` are kept, of a training on so many items.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn open(context: &Context, wanted: u64, items: u64) -> Result<Self, Failure> {
        let count = wanted.min(items);
        let path = context.checkpoint_dir().join("answers.jsonl");
        let journal = Journal::open(path, count as usize, |answer: &KeptAnswer| Some(answer.number))?;
        Ok(AnswerJournal { journal, count, items })
    }

    /// Number of answers that are kept of the first `items` items of the training.
    fn kept_of_first(&self, items: u64) -> u64 {
        items.min(self.items) * self.count / self.items.max(1)
    }

    /// Keeps the answers to be kept of a step, whose first item has this ordinal. They are on the disk when this
    /// returns, before the step is in a checkpoint.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn push(&self, first: u64, groups: &[Group<'_>]) -> Result<(), Failure> {
        for (ordinal, group) in (first..).zip(groups) {
            let number = self.kept_of_first(ordinal);
            let is_kept = number < self.kept_of_first(ordinal + 1);
            let Some(rollout) = group.rollouts.first().filter(|_| is_kept) else { continue };
            let answer = KeptAnswer {
                number: number as usize,
                task_id: group.question.task_id.clone(),
                text: rollout.text.clone(),
                is_truncated: rollout.is_truncated(),
                prompt_words: group.question.prompt.len() as u64,
                words: rollout.words.len() as u64,
            };
            self.journal.push(answer.number, &answer)?;
        }
        self.journal.sync()
    }

    /// Writes the answers of the first `items` items in the order of the training.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn write(&self, path: &Path, max_tokens: u64, items: u64) -> Result<(), Failure> {
        let run = PlayerSettings {
            player: Some("reinforce".to_owned()),
            max_tokens: Some(max_tokens),
            temperature: Some(1.0),
            ..PlayerSettings::default()
        };
        let mut writer = AnswersWriter::create(path, &run)?;
        let reached = self.kept_of_first(items);
        self.journal.for_each(|number, answer| {
            if number as u64 >= reached {
                return Ok(());
            }
            let answer = answer.ok_or_else(|| Failure::internal(format!("the kept answer {number} is lost")))?;
            writer.push(Answer {
                task_id: answer.task_id,
                response: Some(answer.text),
                finish: Some(if answer.is_truncated { "length" } else { "stop" }.to_owned()),
                prompt_tokens: Some(answer.prompt_words),
                completion_tokens: Some(answer.words),
                ..Answer::default()
            })
        })?;
        writer.finish()?;
        Ok(())
    }
}
