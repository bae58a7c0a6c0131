//! The output of `generate`.

use cwm_answers::{Answer, AnswersWriter, PlayerSettings};
use cwm_contract::{Context, Failure};
use cwm_models::checkpoint::Description;
use cwm_questions::Item;
use cwm_speech::{END, text};

use crate::config::Config;

/// The output `answers` while it is written.
pub struct OutputWriter {
    writer: AnswersWriter,
    answers: u64,
    words: u64,
    truncated: u64,
}

impl OutputWriter {
    /// Creates the output, before the first answer.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn create(context: &Context, run: &PlayerSettings) -> Result<Self, Failure> {
        let writer = AnswersWriter::create(context.output("answers")?, run)?;
        Ok(OutputWriter { writer, answers: 0, words: 0, truncated: 0 })
    }

    /// Writes the answer of this number to an item, whose prompt has so many words.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn push(&mut self, item: &Item, number: usize, prompt_words: usize, words: &[u16]) -> Result<(), Failure> {
        let is_truncated = words.last() != Some(&END);
        self.answers += 1;
        self.words += words.len() as u64;
        self.truncated += u64::from(is_truncated);
        self.writer.push(Answer {
            task_id: item.task_id.clone(),
            sample: Some(number as u64),
            response: Some(text(words)),
            finish: Some(if is_truncated { "length" } else { "stop" }.to_owned()),
            prompt_tokens: Some(prompt_words as u64),
            completion_tokens: Some(words.len() as u64),
            ..Answer::default()
        })
    }

    /// Ends the file, and reports how many answers were cut.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn finish(self, context: &Context) -> Result<(), Failure> {
        self.writer.finish()?;
        context.metric("answers", self.answers as f64);
        context.metric("words", self.words as f64);
        context.metric("clipped", self.truncated as f64);
        Ok(())
    }
}

/// The description of the run: the model that answers, and its settings.
pub fn run(config: &Config, description: &Description) -> PlayerSettings {
    let architecture = &description.architecture;
    PlayerSettings {
        name: config.name.clone().unwrap_or_default(),
        player: Some("generate".to_owned()),
        model: Some(format!("{} {}", architecture.family, architecture.size)),
        max_tokens: Some(config.max_tokens),
        temperature: Some(config.temperature),
        ..PlayerSettings::default()
    }
}
