//! Measures autoencoders on games that they were not trained on.

use std::ops::Range;
use std::sync::Arc;

use burn::tensor::{Device, Tensor, TensorData};
use cwm_contract::{Context, Failure};
use cwm_inside::autoencoder::{DeviceAutoencoder, Measures, ReconstructionSums, TrainedAutoencoder};
use cwm_inside::{Batch, Model};
use cwm_models::Precision;
use cwm_models::sites::{Edit, Sites};
use cwm_models::worker_pool::WorkerPool;

use crate::games::{Count, Games};
use crate::losses::{LossSum, TestGame};
use crate::replacement::Replacement;

/// Games in memory at once.
const CHUNK: usize = 128;

/// The measures of the autoencoder of a site.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteMeasures {
    /// The measures of the reconstruction of rows.
    pub rows: Measures,
    /// The model's loss with the stream as the autoencoder gives it.
    pub reconstructed: f64,
    /// The model's loss with the stream set to 0.
    pub zero: f64,
    /// The model's loss with the stream set to its mean row.
    pub mean: f64,
}

/// A measurement of the autoencoders of a model.
pub struct AutoencoderEvaluation<'a> {
    /// Inputs, outputs, services.
    pub context: &'a Context,
    /// The model.
    pub model: &'a Model,
    /// The device that computes.
    pub device: &'a Device,
    /// Threads of the CPU.
    pub workers: &'a WorkerPool,
    /// Largest number of padded tokens of a pass.
    pub batch_tokens: usize,
    /// True if the row of each game's first token is not replaced.
    pub keep_begin: bool,
}

impl AutoencoderEvaluation<'_> {
    /// The model's own loss, and the measures of the autoencoder of each of these sites, in their order, on the first games, at
    /// most so many.
    ///
    /// # Errors
    /// A game is none, or the stage was cancelled.
    pub fn run(
        &self,
        games: &Games,
        most: u64,
        trained: &[(usize, TrainedAutoencoder)],
        precision: Precision,
    ) -> Result<(f64, Vec<SiteMeasures>), Failure> {
        let games = self.games(games, most)?;
        let autoencoders: Vec<(usize, Arc<DeviceAutoencoder>)> =
            trained.iter().map(|(site, trained)| (*site, Arc::new(trained.on(self.device, precision)))).collect();
        self.context.activity("measuring reconstructions");
        let (loss, sums) = self.plain(&games, &autoencoders, trained)?;
        self.context.activity("measuring losses");
        let mut measures = Vec::new();
        for ((site, autoencoder), sums) in autoencoders.into_iter().zip(sums) {
            let row = |values: Vec<f32>| {
                let row = Tensor::from_data(TensorData::new(values, [self.model.width()]), self.device);
                Replacement::Row(Box::new(row))
            };
            let replaced = |replacement| Ok::<_, Failure>(self.replaced(&games, site, &replacement)?.mean());
            measures.push(SiteMeasures {
                rows: sums.measures(),
                reconstructed: replaced(Replacement::Reconstructed(autoencoder))?,
                zero: replaced(row(vec![0.0; self.model.width()]))?,
                mean: replaced(row(sums.mean_row()))?,
            });
        }
        Ok((loss.mean(), measures))
    }

    fn games(&self, games: &Games, most: u64) -> Result<Vec<TestGame>, Failure> {
        let mut found = Vec::new();
        let mut count = Count::default();
        for game in (0..games.len()).take(most as usize) {
            self.context.check_cancelled()?;
            match games.reading(game)? {
                Some(reading) if reading.len() > 1 => {
                    found.push(TestGame::new(games, game, self.model.task(), reading)?);
                }
                Some(_) => {}
                None => games.count_dropped(game, &mut count)?,
            }
        }
        games.note(self.context, &count);
        Ok(found)
    }

    /// The model as it is: its loss, and how well the rows of each site are reconstructed.
    fn plain(
        &self,
        games: &[TestGame],
        autoencoders: &[(usize, Arc<DeviceAutoencoder>)],
        trained: &[(usize, TrainedAutoencoder)],
    ) -> Result<(LossSum, Vec<ReconstructionSums>), Failure> {
        let width = self.model.width();
        let empty =
            |(_, trained): &(usize, TrainedAutoencoder)| ReconstructionSums::new(width, trained.autoencoder.latents());
        let mut sums: Vec<ReconstructionSums> = trained.iter().map(empty).collect();
        let mut loss = LossSum::default();
        for chunk in games.chunks(CHUNK) {
            let by_game = self.model.by_batch(self.workers, self.batch_tokens, chunk, |batch| {
                self.context.check_cancelled()?;
                let keep = autoencoders.iter().map(|(site, _)| *site).collect();
                let (losses, kept) = self.losses(batch, chunk, Sites { keep, edit: None });
                let by_site: Vec<_> = autoencoders
                    .iter()
                    .zip(kept)
                    .map(|((_, autoencoder), rows)| {
                        let latents = autoencoder.latents(rows.clone());
                        let reconstructed = values(autoencoder.rows(latents.clone()));
                        (values(rows), reconstructed, values(latents))
                    })
                    .collect();
                let game = |(place, loss): (usize, LossSum)| {
                    let rows = batch.row(place, 1)..batch.row(place, chunk[batch.places[place]].len());
                    let sums = trained.iter().zip(&by_site).map(|(trained, (x, y, latents))| {
                        let mut sums = empty(trained);
                        let count = trained.1.autoencoder.latents();
                        sums.add(part(x, &rows, width), part(y, &rows, width), part(latents, &rows, count));
                        sums
                    });
                    (loss, sums.collect::<Vec<_>>())
                };
                Ok(losses.into_iter().enumerate().map(game).collect())
            })?;
            for (of_game, by_site) in by_game {
                loss.add(of_game);
                sums.iter_mut().zip(&by_site).for_each(|(sums, of_game)| sums.merge(of_game));
            }
        }
        Ok((loss, sums))
    }

    /// The loss of the model whose stream at a site is replaced.
    fn replaced(&self, games: &[TestGame], site: usize, replacement: &Replacement) -> Result<LossSum, Failure> {
        let mut loss = LossSum::default();
        for chunk in games.chunks(CHUNK) {
            let by_game = self.model.by_batch(self.workers, self.batch_tokens, chunk, |batch| {
                self.context.check_cancelled()?;
                let change = replacement.change(batch, self.device, self.keep_begin);
                let edit = Some(Edit { site, change });
                Ok(self.losses(batch, chunk, Sites { keep: Vec::new(), edit }).0)
            })?;
            by_game.into_iter().for_each(|of_game| loss.add(of_game));
        }
        Ok(loss)
    }

    /// The loss of each game of a batch, and the kept streams.
    fn losses(&self, batch: &Batch<'_>, games: &[TestGame], sites: Sites) -> (Vec<LossSum>, Vec<Tensor<2>>) {
        let answers: Vec<usize> = batch.places.iter().map(|&place| games[place].answers()).collect();
        let rows: Vec<usize> = answers
            .iter()
            .enumerate()
            .flat_map(|(game, &answers)| (0..answers).map(move |token| batch.row(game, token)))
            .collect();
        let (pass, logits) = batch.logits(sites, &rows);
        let outputs = logits.len() / rows.len().max(1);
        let mut first = 0;
        let loss = |(&place, &answers): (&usize, &usize)| {
            let range = first * outputs..(first + answers) * outputs;
            first += answers;
            games[place].loss(&logits[range])
        };
        let losses = batch.places.iter().zip(&answers).map(loss).collect();
        (losses, pass.kept().into_iter().map(|(_, kept)| kept).collect())
    }
}

/// Returns these rows of values [rows, width].
fn part<'v>(values: &'v [f32], rows: &Range<usize>, width: usize) -> &'v [f32] {
    &values[rows.start * width..rows.end * width]
}

fn values(tensor: Tensor<2>) -> Vec<f32> {
    tensor.into_data().as_slice::<f32>().expect("rows are f32 and contiguous").to_vec()
}
