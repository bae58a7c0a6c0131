//! The format `examples`: conversations that a model is fine-tuned on, one JSON object a line (written by
//! `cwm_questions::write_line`).

use std::collections::HashSet;
use std::io::BufRead;

use cwm_contract::Failure;
use cwm_questions::{Metadata, read_lines};
use serde::{Deserialize, Serialize};
use shakmaty::Chess;

use crate::board::{BoardForm, board_text};

/// An example; keys in this order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// Unique within a file: the builder's name, `-`, six digits.
    pub id: String,
    /// The conversation. The last message is the assistant's: the training target.
    pub messages: Vec<Message>,
    /// Its metadata: `builder`, `fen`, and the entries that the builder adds.
    #[serde(default)]
    pub meta: Metadata,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// The role of its author.
    pub role: MessageRole,
    /// Its text.
    pub content: String,
}

/// The role of a message's author.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageRole {
    /// The frame of the conversation.
    System,
    /// The question.
    User,
    /// The answer.
    Assistant,
}

impl Message {
    /// A conversation of three messages.
    pub fn conversation(system: &str, user: String, assistant: String) -> Vec<Message> {
        let message = |role, content| Message { role, content };
        vec![
            message(MessageRole::System, system.to_owned()),
            message(MessageRole::User, user),
            message(MessageRole::Assistant, assistant),
        ]
    }
}

impl Example {
    /// A conversation about a position; without an id.
    pub(crate) fn new(builder: &str, position: &Chess, messages: Vec<Message>) -> Example {
        let mut meta = Metadata::default();
        meta.insert("builder", builder);
        meta.insert("fen", board_text(position, BoardForm::Fen));
        Example { id: String::new(), messages, meta }
    }

    /// The example with the game (by its `index`) and the plies before its position, where these are known.
    #[must_use]
    pub fn at(mut self, game: Option<u64>, ply: Option<u32>) -> Example {
        if let Some(game) = game {
            self.meta.insert("game", game);
        }
        if let Some(ply) = ply {
            self.meta.insert("ply", ply);
        }
        self
    }

    /// The example with its id: it is the one of this number, from 0, of its builder.
    #[must_use]
    pub fn numbered(self, number: usize) -> Example {
        let id = format!("{}-{number:06}", self.meta.text("builder").unwrap_or_default());
        Example { id, ..self }
    }

    /// The training target: the text of the last message.
    pub fn target(&self) -> &str {
        self.messages.last().map_or("", |message| &message.content)
    }

    /// The fault that makes it no valid example, if it has one.
    fn fault(&self) -> Option<String> {
        let last = self.messages.last();
        (last.map(|message| message.role) != Some(MessageRole::Assistant))
            .then(|| format!("{}: the last message must be the assistant's", self.id))
    }
}

/// Reads the examples of `file` (its name in messages). Blank lines are skipped.
///
/// # Errors
///
/// The line and what is wrong there: no example, a last message that is not the assistant's, a second example of the same id.
pub fn read_examples(reader: impl BufRead, file: &str) -> Result<Vec<Example>, Failure> {
    let mut seen = HashSet::new();
    read_lines(reader, file, |line| {
        let example: Example = serde_json::from_str(line).map_err(|error| format!("not an example: {error}"))?;
        match example.fault() {
            Some(fault) => Err(fault),
            None if !seen.insert(example.id.clone()) => Err(format!("a second example {}", example.id)),
            None => Ok(example),
        }
    })
}

#[cfg(test)]
mod tests {
    use cwm_questions::write_line;

    use super::*;

    /// The example of the specification, shortened.
    const LINE: &str = concat!(
        r#"{"id": "best_line-000041", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}, "#,
        r#"{"role": "assistant", "content": "d5e4 e1g1 c8a6 f1e1 a6d3 [Δ-89]"}], "#,
        r#""meta": {"builder": "best_line", "fen": "…", "plies": 5}}"#
    );

    #[test]
    fn a_line_is_read_and_written_byte_for_byte() {
        let examples = read_examples(LINE.as_bytes(), "x").unwrap();
        assert_eq!(examples[0].target(), "d5e4 e1g1 c8a6 f1e1 a6d3 [Δ-89]");
        let mut written = Vec::new();
        write_line(&mut written, &examples[0]).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), format!("{LINE}\n"));
    }

    #[test]
    fn bad_lines_are_located() {
        let failure = |text: String| read_examples(text.as_bytes(), "x").unwrap_err().message;
        assert_eq!(failure(format!("{LINE}\n\n{LINE}\n")), "x, line 3: a second example best_line-000041");
        let fault = failure(LINE.replace("assistant", "user"));
        assert_eq!(fault, "x, line 1: best_line-000041: the last message must be the assistant's");
        let fault = failure(LINE.replace("assistant", "human"));
        assert!(fault.starts_with("x, line 1: not an example: unknown variant `human`"), "{fault}");
        assert!(
            failure(r#"{"id":"a","messages":[]}"#.to_owned()).ends_with("a: the last message must be the assistant's")
        );
    }
}
