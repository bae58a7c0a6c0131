//! A training step as the stage `train` makes it.

use std::path::Path;

use cwm_models::batch::cut_by_length;
use cwm_models::checkpoint::write_weights;
use cwm_models::counter_rng::CounterRng;
use cwm_models::gradient::GradientSum;
use cwm_models::heads::labels::{self, LABELS, MicroBatch, SPANS, denominator, loss};
use cwm_models::parameters::Weights;
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{Architecture, DeviceWeights, ForwardPass, Network, device};
use cwm_training::optimiser::{AdamW, AdamWOptions, clip_factor, norm};
use safetensors::tensor::{Dtype, TensorView};

/// Games of the batch.
pub const GAMES: usize = 32;
/// Tokens of each.
pub const TOKENS: usize = 80;
const VOCABULARY: usize = 20_482;
/// `train`'s default `micro_batch_tokens`.
const MICRO_BATCH_TOKENS: usize = 768;

/// A model, its optimiser and one batch.
pub struct Trainer {
    network: Network,
    weights: Weights,
    adamw: AdamW,
    gradient: GradientSum,
    workers: WorkerPool,
    batch: Vec<MicroBatch>,
    steps: u64,
}

/// Moves that no game has, but as many different ones.
fn games() -> Vec<Vec<u16>> {
    let token = |game: usize, t: usize| ((game * 7_919 + t * 104_729) % 20_480) as u16;
    (0..GAMES).map(|game| (0..TOKENS).map(|t| token(game, t)).collect()).collect()
}

/// Any class that label `label` has.
fn class(game: usize, t: usize, label: usize) -> u8 {
    ((game * 31 + t * 17 + label * 7) % SPANS[label].1) as u8
}

impl Trainer {
    /// At its beginning.
    pub fn new(family: &str, size: &str, threads: usize) -> Self {
        let architecture = Architecture {
            family: family.to_owned(),
            size: size.parse().expect("a size such as d128/l1"),
            vocabulary: VOCABULARY,
            dropout: 0.1,
            options: Default::default(),
        };
        let network = labels::network(architecture).expect("a model");
        let games = games();
        let games: Vec<&[u16]> = games.iter().map(Vec::as_slice).collect();
        let labelled = |chosen: &Vec<usize>| {
            let label = |game: usize, room: &mut [u8]| {
                for (t, row) in room.chunks_exact_mut(LABELS).enumerate() {
                    row.iter_mut().enumerate().for_each(|(label, to)| *to = class(game, t, label));
                }
                Ok::<(), std::convert::Infallible>(())
            };
            let Ok(batch) = MicroBatch::labelled(&games, chosen, label);
            batch
        };
        let options = AdamWOptions { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weight_decay: 0.01 };
        Trainer {
            weights: network.initial_weights(1),
            adamw: AdamW::new(network.layout().clone(), options),
            gradient: GradientSum::new(network.layout().clone()),
            workers: WorkerPool::new(threads).expect("threads"),
            batch: cut_by_length(&[TOKENS; GAMES], MICRO_BATCH_TOKENS).iter().map(labelled).collect(),
            network,
            steps: 0,
        }
    }

    /// Leaves weights and batch for another program.
    pub fn write(&self, folder: &Path) {
        write_weights(&folder.join("model.safetensors"), &self.weights).expect("room");
        let tokens: Vec<u8> = games().concat().iter().flat_map(|&token| i64::from(token).to_le_bytes()).collect();
        let places = (0..GAMES).flat_map(|game| (0..TOKENS).map(move |t| (game, t)));
        let labels: Vec<u8> =
            places.flat_map(|(game, t)| (0..LABELS).map(move |label| class(game, t, label))).collect();
        let view = |kind, shape, bytes| TensorView::new(kind, shape, bytes).expect("as many bytes");
        let tensors = [
            ("tokens", view(Dtype::I64, vec![GAMES, TOKENS], &tokens)),
            ("labels", view(Dtype::U8, vec![GAMES * TOKENS, LABELS], &labels)),
        ];
        safetensors::serialize_to_file(tensors, None, &folder.join("batch.safetensors")).expect("room");
    }

    /// Sums the gradient of the batch; its loss.
    fn backward(&self, with_dropout: bool) -> f64 {
        let device_weights = DeviceWeights::new(&self.weights, &device::cpu());
        let sums = self.workers.map(self.batch.len(), |index| {
            let rng = with_dropout.then(|| CounterRng::new(1, self.steps, index as u64));
            let pass = ForwardPass::training(&device_weights, rng);
            let micro_batch = &self.batch[index];
            let loss = loss(self.network.flat_logits(&pass, &micro_batch.tokens), &micro_batch.targets, GAMES * TOKENS);
            self.gradient.add(index, pass.gradient(&loss.share));
            loss.sum()
        });
        sums.iter().sum::<f64>() / denominator(GAMES * TOKENS)
    }

    /// Loss and gradient norm without dropout; nothing is learnt.
    pub fn loss_and_norm(&mut self) -> [f64; 2] {
        let loss = self.backward(false);
        [loss, self.gradient.with(|gradient| norm(gradient.values()))]
    }

    /// One step.
    pub fn step(&mut self) {
        self.backward(true);
        let (weights, adamw) = (&mut self.weights, &mut self.adamw);
        self.gradient.with(|gradient| {
            let clip = clip_factor(norm(gradient.values()), 1.0);
            adamw.update(weights, gradient, clip, 1e-3);
        });
        assert!(self.weights.is_finite(), "training diverged");
        self.steps += 1;
    }
}
