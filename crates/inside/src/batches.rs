//! Games through a model, a micro-batch at a time.

use cwm_contract::Failure;
use cwm_models::batch::cut_by_length;
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{Cache, ForwardPass, Sites, Tokens};

use crate::{Model, TokenizedGame};

/// Games that pass through a model together.
#[derive(Debug)]
pub struct Batch<'a> {
    model: &'a Model,
    /// Their places among the readings that were given.
    pub places: Vec<usize>,
    /// Their tokens, padded to the longest.
    pub tokens: Tokens,
}

impl Model {
    /// Does `work` on micro-batches of `readings` of at most `batch_tokens` tokens, padding included, on these workers.
    /// `work` returns one value for each of a batch's games; the result has one for each reading. Micro-batches depend on the
    /// lengths alone, and each is computed on one thread, so the number of workers changes no bit.
    ///
    /// # Errors
    /// A game is longer than the model reads, or the error of `work` for the first batch that has one.
    pub fn by_batch<R: AsRef<[u16]> + Sync, T: Send>(
        &self,
        workers: &WorkerPool,
        batch_tokens: usize,
        games: &[R],
        work: impl Fn(&Batch<'_>) -> Result<Vec<T>, Failure> + Sync,
    ) -> Result<Vec<T>, Failure> {
        let lengths: Vec<usize> = games.iter().map(|game| game.as_ref().len()).collect();
        self.network().check_length(lengths.iter().copied().max().unwrap_or(0))?;
        let cuts = cut_by_length(&lengths, batch_tokens);
        let done = workers.map(cuts.len(), |index| {
            let places = cuts[index].clone();
            let tokens = Tokens::padded(places.iter().map(|&place| games[place].as_ref()), self.padding());
            work(&Batch { model: self, places, tokens })
        });
        let mut by_game: Vec<Option<T>> = games.iter().map(|_| None).collect();
        for (cut, done) in cuts.iter().zip(done) {
            let done = done?;
            if done.len() != cut.len() {
                return Err(Failure::internal(format!("{} results of {} games", done.len(), cut.len())));
            }
            cut.iter().zip(done).for_each(|(&place, value)| by_game[place] = Some(value));
        }
        Ok(by_game.into_iter().flatten().collect())
    }
}

impl AsRef<[u16]> for TokenizedGame {
    fn as_ref(&self) -> &[u16] {
        &self.tokens
    }
}

impl Batch<'_> {
    /// The row of a game's token among the rows [games * time] of this batch: `game` counts within the batch.
    pub fn row(&self, game: usize, token: usize) -> usize {
        game * self.tokens.time() + token
    }

    /// Logits [rows, outputs] of these rows, with these sites kept and edited, and the pass that they come from.
    pub fn logits(&self, sites: Sites, rows: &[usize]) -> (ForwardPass<'_>, Vec<f32>) {
        let pass = self.model.pass().with_sites(sites);
        let logits = self.model.network().logits_at(&pass, &self.tokens, rows).into_data();
        let logits = logits.as_slice::<f32>().expect("logits are f32 and contiguous").to_vec();
        (pass, logits)
    }

    /// Returns [`Batch::logits`] and, if the model can continue from steps that it has passed, the cache of these.
    pub fn start(&self, sites: Sites, rows: &[usize]) -> (ForwardPass<'_>, Vec<f32>, Option<Cache>) {
        let Some(model) = self.model.network().incremental() else {
            let (pass, logits) = self.logits(sites, rows);
            return (pass, logits, None);
        };
        let pass = self.model.pass().with_sites(sites);
        let (x, cache) = model.start(&pass, &self.tokens);
        let logits = self.model.network().logits_of_rows(&pass, x, rows).into_data();
        let logits = logits.as_slice::<f32>().expect("logits are f32 and contiguous").to_vec();
        (pass, logits, Some(cache))
    }

    /// Rows [rows, width] of the stream at each of these sites, in ascending order of the sites. With `normed`, rows of the
    /// last site are what the model's final norm makes of them.
    pub fn stream(&self, sites: &[usize], rows: &[usize], normed: bool) -> Vec<Vec<f32>> {
        let sites = Sites { keep: sites.to_vec(), edit: None };
        // One row of logits is the cheapest way through all blocks.
        let (pass, _) = self.logits(sites, &rows[..rows.len().min(1)]);
        let rows = crate::collect::indices(rows, pass.device());
        let values = |(site, kept): (usize, burn::tensor::Tensor<2>)| {
            let mut kept = kept.select(0, rows.clone());
            if normed && site + 1 == self.model.sites() {
                kept = self.model.network().final_norm(&pass, kept);
            }
            kept.into_data().as_slice::<f32>().expect("the stream is f32 and contiguous").to_vec()
        };
        pass.kept().into_iter().map(values).collect()
    }
}
