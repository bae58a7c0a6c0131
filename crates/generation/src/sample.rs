//! Samples many answers at once.

use cwm_contract::Failure;
use cwm_game::StreamRng;
use cwm_models::worker_pool::WorkerPool;

use crate::reader::Reader;
use crate::{Model, Sampling};

/// The number of answers in a batch.
const BATCH: usize = 64;

/// Samples so many answers to each prompt, by prompt and number; the end word is part of an answer, unless it was cut
/// before. `stream` gives the random numbers of one answer, by the place of its prompt and its number.
///
/// # Errors
/// An answer could be longer than the model reads; a logit is not finite; a prompt or `sampling` is not what it should be.
pub fn sample(
    model: &Model<'_>,
    workers: &WorkerPool,
    prompts: &[Vec<u16>],
    samples: usize,
    sampling: &Sampling,
    stream: &(dyn Fn(usize, usize) -> StreamRng + Sync),
) -> Result<Vec<Vec<Vec<u16>>>, Failure> {
    sample_by(BATCH, model, workers, prompts, samples, sampling, stream)
}

/// Samples like [`sample`], in batches of so many answers; their size changes no answer.
pub(crate) fn sample_by(
    batch: usize,
    model: &Model<'_>,
    workers: &WorkerPool,
    prompts: &[Vec<u16>],
    samples: usize,
    sampling: &Sampling,
    stream: &(dyn Fn(usize, usize) -> StreamRng + Sync),
) -> Result<Vec<Vec<Vec<u16>>>, Failure> {
    check(model, prompts, sampling)?;
    if samples == 0 {
        return Ok(vec![Vec::new(); prompts.len()]);
    }
    let together = (batch / samples).max(1);
    let batches: Vec<&[Vec<u16>]> = prompts.chunks(together).collect();
    let answers = workers.map(batches.len(), |number| {
        let stream = |prompt: usize, answer: usize| stream(number * together + prompt, answer);
        answers(model, batches[number], samples, sampling, &stream)
    });
    let answers = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(answers.into_iter().flatten().collect())
}

fn check(model: &Model<'_>, prompts: &[Vec<u16>], sampling: &Sampling) -> Result<(), Failure> {
    let words = model.network.architecture().vocabulary;
    let is_unknown = |word: &u16| usize::from(*word) >= words;
    if prompts.iter().any(|prompt| prompt.is_empty() || prompt.iter().any(is_unknown)) || sampling.max_tokens == 0 {
        return Err(Failure::internal("a prompt has a word that the model knows, and an answer room for one"));
    }
    let longest = prompts.iter().map(Vec::len).max().unwrap_or(0);
    // The last word of an answer is not read.
    model.network.check_length(longest + sampling.max_tokens - 1).map_err(|error| {
        Failure::from(error).hint(format!(
            "the longest prompt has {longest} words, and an answer may have {}: shorten answers, or train with more positions",
            sampling.max_tokens
        ))
    })
}

/// An answer in progress.
struct AnswerInProgress {
    words: Vec<u16>,
    stream: StreamRng,
}

/// The answers to the prompts of a batch.
fn answers(
    model: &Model<'_>,
    prompts: &[Vec<u16>],
    samples: usize,
    sampling: &Sampling,
    stream: &dyn Fn(usize, usize) -> StreamRng,
) -> Result<Vec<Vec<Vec<u16>>>, Failure> {
    let new =
        |number: usize| AnswerInProgress { words: Vec::new(), stream: stream(number / samples, number % samples) };
    let mut answers: Vec<AnswerInProgress> = (0..prompts.len() * samples).map(new).collect();
    let (mut reader, mut logits) = Reader::start(model, prompts);
    // The answers that go on, each with its row of logits.
    let mut open: Vec<(usize, usize)> = (0..answers.len()).map(|number| (number, number / samples)).collect();
    while !open.is_empty() {
        let (mut still_open, mut words) = (Vec::with_capacity(open.len()), Vec::with_capacity(open.len()));
        for (number, row) in open {
            let AnswerInProgress { words: answer, stream } = &mut answers[number];
            let word = sampling.choose(&logits[row], answer, || stream.uniform());
            let word = word.ok_or_else(|| Failure::input("the logits of the model are not all finite"))?;
            answer.push(word);
            if word != sampling.end && answer.len() < sampling.max_tokens {
                still_open.push((number, words.len()));
                words.push((row, word));
            }
        }
        if !words.is_empty() {
            logits = reader.continue_from(&words);
        }
        open = still_open;
    }
    let mut answers = answers.into_iter().map(|answer| answer.words);
    Ok(prompts.iter().map(|_| answers.by_ref().take(samples).collect()).collect())
}
