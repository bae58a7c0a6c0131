//! *Reasoning through chess*: positions as text, values of moves, system messages; the four tasks whose answers can be verified,
//! with their items, verdicts, rewards and measures; the claims of a text; the tasks of judges; and the examples that models
//! are fine-tuned on.
//!
//! This crate must not depend on engines, models, tokens, or files of answers.

pub mod board;
mod claims;
mod direct;
mod draws;
mod example;
mod facts;
mod guided;
mod judges;
mod lines;
mod measures;
mod mixing;
mod move_text;
mod pieces;
mod reading;
mod reward;
mod search;
mod task;
pub mod texts;
pub mod values;
mod verifier;

pub use claims::{ClaimRule, Claims, MoveClaim, PieceClaim, claims};
pub use direct::best_move;
pub use draws::RandomChoices;
pub use example::{Example, Message, MessageRole, read_examples};
pub use facts::{CapturePair, FactKind, Facts, factual};
pub use guided::{GuidedLine, GuidedMode, GuidedSearch, guided_example, guided_item};
pub use judges::{JUDGES, JudgeReader, JudgeScores, JudgeTask, JudgedOutput, judge_item};
pub use lines::best_line;
pub use measures::MoveMeasures;
pub use mixing::{Mix, Mixture, MixtureSource, Source, mix};
pub use reading::{ReadAnswer, ReadingRule};
pub use reward::{AnswerVerdict, RewardOptions, VerifiedAnswer};
pub use search::{MATE, ScoredMove, VerbalisedSearch, Wording, verbalised};
pub use task::{CATEGORY, ReasoningTask, TaskOptions, build_item};
pub use values::Scaling;
pub use verifier::Verifier;

#[cfg(test)]
mod golden;
