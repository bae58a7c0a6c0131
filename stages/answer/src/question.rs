//! The questions about items.

use cwm_questions::{AnswerType, Item};

/// A question.
#[derive(Clone, Debug)]
pub struct Question {
    /// The index of the item.
    pub item: usize,
    /// The item's id.
    pub task_id: String,
    /// The number of the answer among those to the item; none if there is one alone.
    pub sample: Option<u64>,
    /// The messages to a server; empty for other players.
    pub prompt: Prompt,
    /// The digest of all that the answer depends on.
    pub request: QuestionHash,
}

/// The messages to a server.
#[derive(Clone, Debug, Default)]
pub struct Prompt {
    /// The system message: that of a graded item; others have none.
    pub system: Option<String>,
    /// The user's message.
    pub user: String,
}

impl Prompt {
    /// The prompt of an item.
    pub fn new(item: &Item, user: String) -> Self {
        let is_graded = item.answer_type == AnswerType::Graded;
        let system = item.metadata.text("system").filter(|_| is_graded).map(str::to_owned);
        Prompt { system, user }
    }

    /// Characters that are sent.
    pub fn characters(&self) -> usize {
        self.system.iter().chain([&self.user]).map(|text| text.chars().count()).sum()
    }
}

impl Question {
    /// The questions about items, `samples` about each. `of` returns the prompt of an item, and writes all that the answer
    /// depends on.
    pub fn all<E>(
        items: &[Item],
        samples: u64,
        mut of: impl FnMut(&Item, &mut Vec<u8>) -> Result<Prompt, E>,
    ) -> Result<Vec<Question>, E> {
        let mut questions = Vec::with_capacity(items.len() * samples as usize);
        // One for all items, so that it seldom grows.
        let mut identity = Vec::new();
        for (number, item) in items.iter().enumerate() {
            identity.clear();
            let prompt = of(item, &mut identity)?;
            for sample in 0..samples {
                // The first answer is the one that would be given alone.
                let request = match sample {
                    0 => digest(&identity),
                    _ => digest(&[format!("{sample} ").as_bytes(), &identity].concat()),
                };
                questions.push(Question {
                    item: number,
                    task_id: item.task_id.clone(),
                    sample: (samples > 1).then_some(sample),
                    prompt: prompt.clone(),
                    request,
                });
            }
        }
        Ok(questions)
    }
}

/// The first 16 bytes of a BLAKE3.
pub type QuestionHash = [u8; 16];

/// The digest of a request.
pub fn digest(request: &[u8]) -> QuestionHash {
    let mut first = QuestionHash::default();
    first.copy_from_slice(&blake3::hash(request).as_bytes()[..16]);
    first
}
