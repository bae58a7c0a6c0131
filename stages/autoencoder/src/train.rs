//! The training of all sites in one pass over the games.

use std::time::Instant;

use cwm_contract::{Context, Failure};
use cwm_inside::Rows;
use cwm_inside::autoencoder::Autoencoder;
use cwm_training::checkpoints::is_due;
use cwm_training::curves::number;
use serde_json::{Map, json};

use crate::config::Config;
use crate::reservoir::{Block, Source};
use crate::state::{Progress, State};
use crate::trainer::{BatchMeans, SiteState, Trainer};

/// Rows whose mean length makes the scale.
const SCALE_ROWS: u32 = 100_000;
/// Lines of curves, about.
const LINES: u64 = 400;

/// A training of the autoencoders of all sites.
pub struct Training<'a> {
    /// Inputs, outputs, services.
    pub context: &'a Context,
    /// Parameters.
    pub config: &'a Config,
    /// The source of rows.
    pub source: Source<'a>,
    /// The computation.
    pub autoencoder: &'a Autoencoder,
    /// Rows in all.
    pub total: u64,
}

impl Training<'_> {
    /// Updates in all.
    pub fn updates(&self) -> u64 {
        self.total.div_ceil(self.config.batch_size)
    }

    /// Trains from the last checkpoint on, or from the start, to the end.
    ///
    /// # Errors
    /// A game or row is none, the training diverges, an operation on the disk fails, or the stage was cancelled; then a
    /// checkpoint was written.
    pub fn run(&self, trainer: &mut Trainer<'_>) -> Result<State, Failure> {
        let (context, folder) = (self.context, self.context.checkpoint_dir());
        let sites = self.source.collection.sites.len();
        let mut state = match State::read(folder, self.autoencoder, sites, self.config.adamw())? {
            Some(Ok(state)) => {
                context.log(format!("resuming after update {} of {}", state.progress.updates, self.updates()));
                state
            }
            Some(Err(why)) => {
                context.log(format!("the checkpoint is damaged ({why}): training from the start"));
                State { progress: Progress::default(), sites: Vec::new() }
            }
            None => State { progress: Progress::default(), sites: Vec::new() },
        };
        let mut last_checkpoint = Instant::now();
        while state.progress.updates < self.updates() {
            let Progress { block: number, begin, .. } = state.progress;
            context.activity("computing rows");
            let rows = (self.total - number * self.config.block_rows()).min(self.config.block_rows());
            let block = self.source.block(context, number, begin, rows);
            if block.is_err() && state.progress.updates > 0 {
                state.write(folder)?;
            }
            let block = block?;
            if state.sites.is_empty() {
                state.sites = self.initial(&block);
            }
            context.activity("training");
            let batches = block.order.chunks(self.config.batch_size as usize);
            for batch in batches.skip(state.progress.batches as usize) {
                if context.cancellation().is_cancelled() {
                    state.write(folder)?;
                    return Err(Failure::cancelled());
                }
                self.update(trainer, &mut state, &block.rows, batch)?;
                if is_due(state.progress.updates, self.config.checkpoint_every, last_checkpoint.elapsed()) {
                    state.write(folder)?;
                    last_checkpoint = Instant::now();
                }
            }
            state.progress = Progress { block: number + 1, begin: block.next, batches: 0, ..state.progress };
        }
        state.write(folder)?;
        Ok(state)
    }

    /// Weights and scales, from the rows of the first block.
    fn initial(&self, block: &Block) -> Vec<SiteState> {
        let width = self.autoencoder.width();
        let mut rows = Vec::new();
        let state = |site: usize| {
            let scale = match self.config.scale.as_str() {
                "width" => scale(&block.rows, site),
                _ => 1.0,
            };
            let first = &block.order[..block.order.len().min(self.config.batch_size as usize)];
            let mut bias = vec![0.0f64; width];
            if self.config.bias == "mean" {
                block.rows.read(site, first.iter().map(|&row| row as usize), &mut rows);
                for row in rows.chunks_exact(width) {
                    bias.iter_mut().zip(row).for_each(|(bias, value)| *bias += f64::from(*value));
                }
            }
            let bias: Vec<f32> = bias.iter().map(|sum| (sum / first.len() as f64 * f64::from(scale)) as f32).collect();
            let weights = self.autoencoder.initial_weights(self.config.seed, &bias);
            SiteState::new(scale, weights, self.config.adamw(), self.autoencoder.latents())
        };
        (0..self.source.collection.sites.len()).map(state).collect()
    }

    fn update(&self, trainer: &mut Trainer<'_>, state: &mut State, rows: &Rows, batch: &[u32]) -> Result<(), Failure> {
        let update = state.progress.updates;
        let scaled = |(site, state): (usize, &SiteState)| {
            let mut values = Vec::new();
            rows.read(site, batch.iter().map(|&row| row as usize), &mut values);
            values.iter_mut().for_each(|value| *value *= state.scale);
            values
        };
        let by_site: Vec<Vec<f32>> = state.sites.iter().enumerate().map(scaled).collect();
        let sparsity = self.config.sparsity_at(update);
        let rate = self.config.schedule(self.updates()).at(update);
        let means = trainer.step(&mut state.sites, &by_site, sparsity, rate);
        let sites = &self.source.collection.sites;
        for ((layer, means), state) in sites.iter().zip(&means).zip(&state.sites) {
            if !means.loss.is_finite() || !state.weights.is_finite() {
                let loss = means.loss;
                let message =
                    format!("the autoencoder of layer {layer} diverged at update {}: its loss is {loss}", update + 1);
                return Err(Failure::input(message).hint("a smaller `lr` or a longer `warmup` helps"));
            }
        }
        let every = (self.updates() / LINES).max(1);
        if (update + 1).is_multiple_of(every) || update + 1 == self.updates() {
            state.progress.curves += &line(update + 1, rate, sparsity, sites, &means);
        }
        state.progress.updates += 1;
        state.progress.batches += 1;
        self.context.progress(state.progress.updates, Some(self.updates()), "updates");
        Ok(())
    }
}

/// √width over the mean length of the first rows; 1 if these have none.
fn scale(rows: &Rows, site: usize) -> f32 {
    let (count, mut row, mut sum) = (rows.len().min(SCALE_ROWS as usize), Vec::new(), 0.0f64);
    for number in 0..count {
        rows.read(site, [number], &mut row);
        sum += row.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
    }
    let mean = sum / count as f64;
    if mean > 0.0 { ((rows.width() as f64).sqrt() / mean) as f32 } else { 1.0 }
}

/// A line of curves: the names of a site's values end in its number.
fn line(step: u64, rate: f64, sparsity: f64, layers: &[usize], means: &[BatchMeans]) -> String {
    let mut line = Map::new();
    line.insert("kind".to_owned(), json!("train"));
    line.insert("step".to_owned(), json!(step));
    line.insert("learning_rate".to_owned(), number(rate));
    line.insert("sparsity_weight".to_owned(), number(sparsity));
    line.insert("loss".to_owned(), number(means.iter().map(|means| means.loss).sum::<f64>() / means.len() as f64));
    for (layer, means) in layers.iter().zip(means) {
        let values = [
            ("loss", means.loss),
            ("reconstruction", means.reconstruction),
            ("sparsity", means.sparsity),
            ("auxiliary", means.auxiliary),
            ("l0", means.l0),
        ];
        line.extend(values.map(|(name, value)| (format!("{name}_{layer}"), number(value))));
    }
    json!(line).to_string() + "\n"
}
