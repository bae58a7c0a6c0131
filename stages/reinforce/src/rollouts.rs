//! Sampled answers and their rewards.

use cwm_contract::Failure;
use cwm_game::StreamRng;
use cwm_generation::{Model, Sampling, sample};
use cwm_models::worker_pool::WorkerPool;
use cwm_reasoning::{RewardOptions, VerifiedAnswer};
use cwm_speech::{END, text};

use crate::questions::Question;

/// An answer that was sampled.
#[derive(Clone, Debug)]
pub struct Rollout {
    /// Its words, with the end word unless it was cut before.
    pub words: Vec<u16>,
    /// The answer as text.
    pub text: String,
    /// Its verdict, score and reward.
    pub judgement: VerifiedAnswer,
}

impl Rollout {
    /// Returns true if it was cut.
    pub fn is_truncated(&self) -> bool {
        self.words.last() != Some(&END)
    }
}

/// The answers to a question.
#[derive(Debug)]
pub struct Group<'q> {
    /// The question.
    pub question: &'q Question,
    /// The answers, in the order of their random streams.
    pub rollouts: Vec<Rollout>,
}

impl Group<'_> {
    /// The reward of each answer.
    pub fn rewards(&self) -> Vec<f64> {
        self.rollouts.iter().map(|rollout| rollout.judgement.reward).collect()
    }
}

/// The random stream of the answer with this ordinal among all that are sampled in a training.
pub fn stream(seed: u64, ordinal: u64) -> StreamRng {
    StreamRng::new("reinforce", &seed.to_string(), ordinal)
}

/// Samples so many answers to each question, and judges them. `stream` gives the random numbers of one, by the place of its
/// question and its number.
///
/// # Errors
/// A logit of the model is not finite.
pub fn groups<'q>(
    model: &Model<'_>,
    workers: &WorkerPool,
    questions: &[&'q Question],
    (samples, sampling): (usize, &Sampling),
    reward: &RewardOptions,
    stream: &(dyn Fn(usize, usize) -> StreamRng + Sync),
) -> Result<Vec<Group<'q>>, Failure> {
    let prompts: Vec<Vec<u16>> = questions.iter().map(|question| question.prompt.clone()).collect();
    let answers = sample(model, workers, &prompts, samples, sampling, stream)?;
    let group = |(&question, answers): (&&'q Question, Vec<Vec<u16>>)| {
        let judge = |words: Vec<u16>| {
            let text = text(&words);
            let judgement = question.verifier.judge(&text, reward);
            Rollout { words, text, judgement }
        };
        Group { question, rollouts: answers.into_iter().map(judge).collect() }
    };
    Ok(questions.iter().zip(answers).map(group).collect())
}
