//! An answer as the journal keeps it until all are there.

use cwm_answers::{Answer, NOT_ASKED, is_cost};
use serde::{Deserialize, Serialize};

use crate::question::{Question, QuestionHash};

/// The answer to one question, or, with a `fault`, the outcome of the attempts at it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The item.
    pub task_id: String,
    /// The number of the answer among those to the item; none if there is one alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<u64>,
    /// The digest of all that the answer depends on.
    pub request: QuestionHash,
    /// The visible text.
    pub response: String,
    /// The reasoning, if the server sent it apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The reason why the text ends: `stop`, `length`, `failed`, or another word of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<String>,
    /// The tokens and the cost that the server reports.
    #[serde(default, skip_serializing_if = "Usage::is_unknown")]
    pub usage: Usage,
    /// Requests that it took; 0 if none was sent.
    pub attempts: u32,
    /// The reason why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The model as the server names it in its response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub served: Option<String>,
    /// Dollars that all attempts cost, as far as that is known.
    pub spent: f64,
}

/// The tokens and the cost of one answer that the server reports; `None` where it does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: Option<u64>,
    /// Tokens of the answer, reasoning included.
    pub completion_tokens: Option<u64>,
    /// Tokens of the reasoning.
    pub reasoning_tokens: Option<u64>,
    /// All tokens.
    pub total_tokens: Option<u64>,
    /// Dollars.
    pub cost: Option<f64>,
}

impl Usage {
    fn is_unknown(&self) -> bool {
        *self == Usage::default()
    }
}

impl Entry {
    /// The entry of a question without an answer yet.
    pub fn new(question: &Question) -> Self {
        let Question { task_id, sample, request, .. } = question;
        Entry { task_id: task_id.clone(), sample: *sample, request: *request, ..Entry::default() }
    }

    /// The answer of an earlier run, or of another program, by the model `served`, as the answer to this question.
    pub fn of_known(known: Answer, request: QuestionHash, served: Option<String>) -> Self {
        Entry {
            task_id: known.task_id,
            request,
            response: known.response.unwrap_or_default(),
            reasoning: known.reasoning,
            finish: known.finish,
            usage: Usage {
                prompt_tokens: known.prompt_tokens,
                completion_tokens: known.completion_tokens,
                reasoning_tokens: known.reasoning_tokens,
                total_tokens: known.total_tokens,
                cost: known.cost.filter(|cost| is_cost(*cost)),
            },
            attempts: known.attempts.unwrap_or_default() as u32,
            served,
            ..Entry::default()
        }
    }

    /// The row of `answers`.
    pub fn into_answer(self) -> Answer {
        let is_answered = self.fault.is_none() && self.finish.as_deref() != Some(NOT_ASKED);
        let response = is_answered.then_some(self.response);
        Answer {
            task_id: self.task_id,
            sample: self.sample,
            request: Some(self.request),
            response,
            reasoning: self.reasoning,
            finish: self.finish,
            prompt_tokens: self.usage.prompt_tokens,
            completion_tokens: self.usage.completion_tokens,
            reasoning_tokens: self.usage.reasoning_tokens,
            total_tokens: self.usage.total_tokens,
            cost: self.usage.cost,
            attempts: Some(self.attempts.into()),
            fault: self.fault,
        }
    }
}
