//! Makes linear probes by training, or as differences of means.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cwm_contract::{Context, Failure};
use cwm_inside::linear_probe::{BLOCK, Block, DifferenceSums, LinearProbe, SQUARES};
use cwm_models::parameters::{Declaration, Declarations, Init, Layout, Weights};
use cwm_models::worker_pool::WorkerPool;
use cwm_training::optimiser::{AdamW, AdamWOptions};
use cwm_training::order::{Order, Sampler};

use crate::config::Config;
use crate::inputs::Inputs;

/// Rows that are read at once for differences.
const CHUNK: usize = 1_024;

/// Adds the classes [64] of a row to a list. All rows at once would be as much memory again as their boards.
pub type Labels<'a> = dyn Fn(usize, &mut Vec<u8>) + Sync + 'a;

/// A linear probe, and the loss of its last epoch if it was trained.
pub struct TrainedLinearProbe {
    /// The linear probe.
    pub probe: LinearProbe,
    /// Mean cross-entropy of a square over the last epoch.
    pub loss: Option<f64>,
}

/// Trains a linear probe of each layer, whose rows have these classes.
///
/// Blocks of squares are trained apart, each on one thread: the number of workers changes no bit.
///
/// # Errors
/// A loss is not finite, or the stage was cancelled.
pub fn train(
    context: &Context,
    config: &Config,
    workers: &WorkerPool,
    layers: &[Inputs<'_>],
    labels: &Labels<'_>,
    classes: usize,
) -> Result<Vec<TrainedLinearProbe>, Failure> {
    let rows = layers.first().map_or(0, |inputs| inputs.rows.len());
    let initial: Vec<LinearProbe> =
        layers.iter().map(|inputs| LinearProbe::initial(classes, inputs.width(), config.seed)).collect();
    let sampler = Sampler::new(rows, config.batch_size as usize, Order::Shuffled { seed: config.seed });
    let steps = sampler.clone().steps_of(config.epochs);
    let units: Vec<(usize, Block)> = layers
        .iter()
        .enumerate()
        .flat_map(|(layer, inputs)| Block::all(classes, inputs.width()).map(move |block| (layer, block)))
        .collect();
    let done = AtomicU64::new(0);
    let trained = workers.map(units.len(), |unit| {
        let (layer, block) = units[unit];
        let mut sampler = sampler.clone();
        let step = |step: u64| {
            context.check_cancelled()?;
            context.progress(done.fetch_add(1, Ordering::Relaxed), Some(steps * units.len() as u64), "updates");
            Ok::<_, Failure>((sampler.batch(step), config.rate(step, steps)))
        };
        let of_epoch = (steps / config.epochs) as usize;
        let (part, losses) = train_block(&layers[layer], labels, block, &initial[layer], config.adamw(), steps, step)?;
        Ok::<_, Failure>((part, losses[losses.len() - of_epoch..].iter().sum::<f64>()))
    });
    let mut made: Vec<TrainedLinearProbe> =
        initial.into_iter().map(|probe| TrainedLinearProbe { probe, loss: Some(0.0) }).collect();
    for ((layer, block), trained) in units.into_iter().zip(trained) {
        let (part, loss) = trained?;
        let made = &mut made[layer];
        block.scatter(&part, made.probe.weight_mut());
        made.loss = made.loss.map(|sum| sum + loss / (rows * SQUARES) as f64);
    }
    Ok(made)
}

/// Trains a block of a linear probe for `steps` updates; `step` returns the batch and the learning rate of each.
/// Returns the weights of the block, and the sum of its squares' cross-entropies before each update.
pub fn train_block(
    inputs: &Inputs<'_>,
    labels: &Labels<'_>,
    block: Block,
    initial: &LinearProbe,
    options: AdamWOptions,
    steps: u64,
    mut step: impl FnMut(u64) -> Result<(Vec<usize>, f64), Failure>,
) -> Result<(Vec<f32>, Vec<f64>), Failure> {
    let mut declarations = Declarations::default();
    let shape = [block.classes * BLOCK, block.width];
    declarations.root().declare("weight", Declaration::new(shape, Init::Constant(0.0)));
    let layout = Layout::new(declarations).ok_or_else(|| Failure::input("the linear probes are too large"))?;
    let layout = Arc::new(layout);
    let (mut weights, mut gradient) = (Weights::zeros(layout.clone()), Weights::zeros(layout.clone()));
    weights.values_mut().copy_from_slice(&block.gather(initial.weight()));
    let mut adamw = AdamW::new(layout, options);
    let (mut x, mut logits, mut of_batch) = (Vec::new(), Vec::new(), Vec::new());
    let mut losses = Vec::new();
    for update in 0..steps {
        let (batch, rate) = step(update)?;
        of_batch.clear();
        batch.iter().for_each(|row| labels(*row, &mut of_batch));
        inputs.read(batch, &mut x);
        let loss = block.loss(weights.values(), &x, &of_batch, &mut logits, gradient.values_mut());
        if !loss.is_finite() {
            return Err(Failure::input(format!("the loss of a linear probe is not finite at update {update}"))
                .hint("a smaller `lr` may help, or `normalise: rms`"));
        }
        losses.push(loss);
        adamw.update(&mut weights, &gradient, 1.0, rate);
    }
    Ok((weights.values().to_vec(), losses))
}

/// Differences of mean rows of each layer.
///
/// # Errors
/// The stage was cancelled.
pub fn differences(
    context: &Context,
    workers: &WorkerPool,
    layers: &[Inputs<'_>],
    labels: &Labels<'_>,
    classes: usize,
) -> Result<Vec<TrainedLinearProbe>, Failure> {
    let made = workers.map(layers.len(), |layer| {
        let inputs = &layers[layer];
        let mut sums = DifferenceSums::new(classes, inputs.width());
        let (mut x, mut of_rows) = (Vec::new(), Vec::new());
        for first in (0..inputs.rows.len()).step_by(CHUNK) {
            context.check_cancelled()?;
            let rows = first..inputs.rows.len().min(first + CHUNK);
            of_rows.clear();
            rows.clone().for_each(|row| labels(row, &mut of_rows));
            inputs.read(rows, &mut x);
            sums.add(&x, &of_rows);
        }
        Ok::<_, Failure>(TrainedLinearProbe { probe: sums.probe(), loss: None })
    });
    made.into_iter().collect()
}
