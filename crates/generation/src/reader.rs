//! Reads prompts and, word by word, the answers behind them.

use cwm_models::worker_pool::on_one_thread;
use cwm_models::{Cache, ContinuationPoint, ForwardPass, IncrementalNetwork, RecurrentNetwork, RecurrentState, Tokens};

use crate::Model;

/// Logits after the last word of each text.
pub(crate) type Rows = Vec<Vec<f32>>;

/// Texts that a model has read.
pub(crate) struct Reader<'m> {
    model: &'m Model<'m>,
    read: ReadState<'m>,
}

/// The state that is kept of the texts.
enum ReadState<'m> {
    /// Their keys and values.
    Cached(IncrementalNetwork<'m>, Cache),
    /// The state after each.
    Stepping(RecurrentNetwork<'m, f32>, Vec<RecurrentState<f32>>),
    /// Their words: each is read anew.
    Whole(Vec<Vec<u16>>),
}

impl<'m> Reader<'m> {
    /// Reads `prompts`, none of them empty; gives also the logits after each.
    pub(crate) fn start(model: &'m Model<'m>, prompts: &[Vec<u16>]) -> (Self, Rows) {
        let (read, rows) = if let Some(incremental) = model.network.incremental() {
            let (rows, cache) = model.cached(incremental, None, prompts);
            (ReadState::Cached(incremental, cache), rows)
        } else if let Some(recurrent) = model.network.recurrent() {
            let read = prompts.iter().map(|prompt| {
                let mut state = recurrent.start(model.weights);
                let mut row = Vec::new();
                for &word in prompt {
                    row = recurrent.step(model.weights, &mut state, u32::from(word));
                }
                (state, row)
            });
            let (states, rows) = read.unzip();
            (ReadState::Stepping(recurrent, states), rows)
        } else {
            (ReadState::Whole(prompts.to_vec()), model.whole(prompts))
        };
        (Reader { model, read }, rows)
    }

    /// Reads one word behind each of these texts of the call before: by its place, in ascending order, and possibly several behind
    /// one. Gives the logits after each; the next call counts these texts.
    pub(crate) fn continue_from(&mut self, words: &[(usize, u16)]) -> Rows {
        let model = self.model;
        match &mut self.read {
            ReadState::Cached(incremental, cache) => {
                let after: Vec<_> = words.iter().map(|&(text, _)| cache.end_of(text)).collect();
                let last: Vec<Vec<u16>> = words.iter().map(|&(_, word)| vec![word]).collect();
                let (rows, later) = model.cached(*incremental, Some((&*cache, &after[..])), &last);
                *cache = cache.extended(&after, &later);
                rows
            }
            ReadState::Stepping(recurrent, states) => {
                let mut next = Vec::with_capacity(words.len());
                let step = |(place, &(text, word)): (usize, &(usize, u16))| {
                    let is_shared = words.get(place + 1).is_some_and(|(other, _)| *other == text);
                    let state = &mut states[text];
                    let mut state =
                        if is_shared { state.clone() } else { std::mem::replace(state, RecurrentState(Vec::new())) };
                    let row = recurrent.step(model.weights, &mut state, u32::from(word));
                    next.push(state);
                    row
                };
                let rows = words.iter().enumerate().map(step).collect();
                *states = next;
                rows
            }
            ReadState::Whole(texts) => {
                *texts = words.iter().map(|&(text, word)| [&texts[text][..], &[word]].concat()).collect();
                model.whole(texts)
            }
        }
    }
}

impl Model<'_> {
    /// The logits after each text, and the cache that later texts continue. The texts may themselves continue those of
    /// a cache, each at its `ContinuationPoint`.
    fn cached(
        &self,
        incremental: IncrementalNetwork<'_>,
        earlier: Option<(&Cache, &[ContinuationPoint])>,
        texts: &[Vec<u16>],
    ) -> (Rows, Cache) {
        let (tokens, last) = self.tokens(texts);
        on_one_thread(|| {
            let pass = ForwardPass::evaluation(&self.device_weights);
            let (stream, cache) = match earlier {
                None => incremental.start(&pass, &tokens),
                Some((cache, after)) => incremental.continue_from(&pass, cache, after, &tokens),
            };
            let logits = self.network.logits_of_rows(&pass, stream, &last).into_data();
            (rows(logits.as_slice().expect(FLOATS), texts.len()), cache)
        })
    }

    /// The logits after each text, computed by a whole pass.
    fn whole(&self, texts: &[Vec<u16>]) -> Rows {
        let (tokens, last) = self.tokens(texts);
        on_one_thread(|| {
            let pass = ForwardPass::evaluation(&self.device_weights);
            let logits = self.network.logits_at(&pass, &tokens, &last).into_data();
            rows(logits.as_slice().expect(FLOATS), texts.len())
        })
    }

    /// The texts as a batch, and the row of the last word of each.
    fn tokens(&self, texts: &[Vec<u16>]) -> (Tokens, Vec<usize>) {
        let padding = self.network.architecture().vocabulary as u32 - 1;
        let tokens = Tokens::padded(texts.iter().map(Vec::as_slice), padding);
        let last = texts.iter().enumerate().map(|(place, text)| place * tokens.time() + text.len() - 1).collect();
        (tokens, last)
    }
}

const FLOATS: &str = "logits are f32 and contiguous";

fn rows(logits: &[f32], count: usize) -> Rows {
    logits.chunks_exact(logits.len() / count).map(<[f32]>::to_vec).collect()
}
