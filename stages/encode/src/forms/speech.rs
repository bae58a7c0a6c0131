//! An example in the small language: a position, what is asked, and the answer, of which each word and the end are targets.

use cwm_reasoning::{Example, MessageRole};
use cwm_speech::{COUNT, Conversation, PositionForm, example_words};

use super::{Encoder, Form};
use crate::config::Config;
use crate::encoded_sequence::{EncodedSequence, Row};

/// The form `speech`.
pub const FORM: Form = Form {
    name: "speech",
    version: 1,
    parts: &["speech"],
    inputs: &["examples"],
    vocabulary: (COUNT, COUNT),
    longest: |config| config.max_tokens,
    reasons: &[TOO_LONG],
    encoder: Encoder::Example(encode),
};

/// Examples with more words than a row may have.
const TOO_LONG: &str = "too_long";

fn encode(example: &Example, config: &Config) -> Result<EncodedSequence, String> {
    let form = PositionForm::of_name(&config.position).ok_or("its positions have no form")?;
    let user = example.messages.iter().rfind(|message| message.role == MessageRole::User);
    let user = user.map_or("", |message| &message.content);
    let Conversation { prompt, answer } = example_words(&example.meta, user, example.target(), form)?;
    let row = Row::text(example.id.clone(), &[&prompt[..], &answer].concat(), prompt.len());
    Ok(if row.tokens.len() > config.max_tokens { EncodedSequence::dropped(TOO_LONG) } else { row.into() })
}
