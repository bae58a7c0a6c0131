//! A training step as the stages `train` and `learn` make it.

use std::path::Path;

use cwm_models::batch::cut_by_length;
use cwm_models::checkpoint::write_weights;
use cwm_models::counter_rng::CounterRng;
use cwm_models::gradient::GradientSum;
use cwm_models::heads::choice::{self, NONE};
use cwm_models::heads::labels::{self, LABELS, MicroBatch, SPANS, denominator};
use cwm_models::loss::Loss;
use cwm_models::parameters::Weights;
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{Architecture, DeviceWeights, ForwardPass, Network, device};
use cwm_training::optimiser::{AdamW, AdamWOptions, clip_factor, norm};
use safetensors::tensor::{Dtype, TensorView};

/// Games of the batch.
pub const GAMES: usize = 32;
const VOCABULARY: usize = 20_482;
/// Tokens and answers of boards.
const ACTIONS: usize = 1_968;
/// Words of moves, and that which begins a game.
const WORDS: usize = 72;
/// `train`'s default `micro_batch_tokens`.
const MICRO_BATCH_TOKENS: usize = 768;

/// What a sequence of the batch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A game with all labels after each move, as `train` reads it.
    Games,
    /// A board with one answer, as `learn` reads it.
    Boards,
    /// Words of a game, each with the next as its target, as `learn` reads them.
    Words,
}

impl Kind {
    /// Tokens of a sequence.
    pub fn tokens(self) -> usize {
        match self {
            Kind::Games => 80,
            Kind::Boards => 78,
            Kind::Words => 140,
        }
    }

    /// Numbers of tokens and of outputs, and the options of the family.
    fn model(self) -> (usize, usize, &'static [(&'static str, &'static str)]) {
        match self {
            Kind::Games => (VOCABULARY, labels::LOGITS, &[]),
            Kind::Boards => (ACTIONS, ACTIONS, &[("mask", "none"), ("positions", "78")]),
            Kind::Words => (WORDS, WORDS, &[("positions", "140")]),
        }
    }
}

/// A model, its optimiser and one batch.
pub struct Trainer {
    network: Network,
    weights: Weights,
    adamw: AdamW,
    gradient: GradientSum,
    workers: WorkerPool,
    batch: Batch,
    steps: u64,
}

/// Micro-batches of games with all labels, or of sequences with targets.
enum Batch {
    Games(Vec<MicroBatch>),
    Sequences(Kind, Vec<choice::MicroBatch>),
}

/// Tokens of a board or of a game's words, and their targets.
fn sequence(kind: Kind, number: usize) -> (Vec<u16>, Vec<u16>) {
    let modulus = if kind == Kind::Boards { 31 } else { WORDS };
    let tokens: Vec<u16> = (0..kind.tokens()).map(|t| ((number * 7 + t * (t + 5)) % modulus) as u16).collect();
    let mut targets = vec![NONE; tokens.len()];
    match kind {
        Kind::Words => targets[..tokens.len() - 1].copy_from_slice(&tokens[1..]),
        _ => targets[tokens.len() - 1] = (number * 61 % ACTIONS) as u16,
    }
    (tokens, targets)
}

/// Number of targets of the batch.
fn targets(kind: Kind) -> usize {
    if kind == Kind::Words { GAMES * (kind.tokens() - 1) } else { GAMES }
}

/// Moves that no game has, but as many different ones.
fn games() -> Vec<Vec<u16>> {
    let token = |game: usize, t: usize| ((game * 7_919 + t * 104_729) % 20_480) as u16;
    (0..GAMES).map(|game| (0..Kind::Games.tokens()).map(|t| token(game, t)).collect()).collect()
}

/// Any class that label `label` has.
fn class(game: usize, t: usize, label: usize) -> u8 {
    ((game * 31 + t * 17 + label * 7) % SPANS[label].1) as u8
}

/// All games, as `train` cuts them.
fn game_batch() -> Vec<MicroBatch> {
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
    cut_by_length(&[Kind::Games.tokens(); GAMES], MICRO_BATCH_TOKENS).iter().map(labelled).collect()
}

/// All sequences, as `learn` cuts them.
fn sequence_batch(kind: Kind) -> Vec<choice::MicroBatch> {
    let sequences: Vec<(Vec<u16>, Vec<u16>)> = (0..GAMES).map(|number| sequence(kind, number)).collect();
    let sequences: Vec<(&[u16], &[u16])> =
        sequences.iter().map(|(tokens, targets)| (&tokens[..], &targets[..])).collect();
    let cuts = cut_by_length(&[kind.tokens(); GAMES], MICRO_BATCH_TOKENS);
    cuts.iter().map(|chosen| choice::MicroBatch::new(&sequences, chosen, kind.model().0 as u32 - 1)).collect()
}

impl Trainer {
    /// At its beginning.
    pub fn new(family: &str, size: &str, threads: usize, kind: Kind) -> Self {
        let (vocabulary, outputs, options) = kind.model();
        let architecture = Architecture {
            family: family.to_owned(),
            size: size.parse().expect("a size such as d128/l1"),
            vocabulary,
            dropout: if kind == Kind::Games { 0.1 } else { 0.0 },
            options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        };
        let network = Network::build(architecture, outputs).expect("a model");
        let batch = match kind {
            Kind::Games => Batch::Games(game_batch()),
            Kind::Boards | Kind::Words => Batch::Sequences(kind, sequence_batch(kind)),
        };
        let options = AdamWOptions { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weight_decay: 0.01 };
        Trainer {
            weights: network.initial_weights(1),
            adamw: AdamW::new(network.layout().clone(), options),
            gradient: GradientSum::new(network.layout().clone()),
            workers: WorkerPool::new(threads).expect("threads"),
            batch,
            network,
            steps: 0,
        }
    }

    /// Leaves weights and batch for another program.
    pub fn write(&self, folder: &Path) {
        write_weights(&folder.join("model.safetensors"), &self.weights).expect("room");
        // Targets that there are none of are -100, as PyTorch has them.
        let number = |number: u16| if number == NONE { -100 } else { i64::from(number) };
        let bytes = |numbers: &mut dyn Iterator<Item = u16>| -> Vec<u8> {
            numbers.flat_map(|one| number(one).to_le_bytes()).collect()
        };
        let view = |kind, shape, bytes| TensorView::new(kind, shape, bytes).expect("as many bytes");
        let (tokens, labels, shape, labels_shape, kind);
        match self.batch {
            Batch::Games(_) => {
                let length = Kind::Games.tokens();
                let places = (0..GAMES).flat_map(|game| (0..length).map(move |t| (game, t)));
                tokens = bytes(&mut games().concat().into_iter());
                labels = places.flat_map(|(game, t)| (0..LABELS).map(move |label| class(game, t, label))).collect();
                (shape, labels_shape, kind) = (vec![GAMES, length], vec![GAMES * length, LABELS], Dtype::U8);
            }
            Batch::Sequences(of, _) => {
                tokens = bytes(&mut (0..GAMES).flat_map(|number| sequence(of, number).0));
                labels = bytes(&mut (0..GAMES).flat_map(|number| sequence(of, number).1));
                (shape, labels_shape, kind) = (vec![GAMES, of.tokens()], vec![GAMES, of.tokens()], Dtype::I64);
            }
        }
        let tensors = [("tokens", view(Dtype::I64, shape, &tokens)), ("labels", view(kind, labels_shape, &labels))];
        safetensors::serialize_to_file(tensors, None, &folder.join("batch.safetensors")).expect("room");
    }

    /// Sums the gradient of the batch; its loss.
    fn backward(&self, with_dropout: bool) -> f64 {
        let device_weights = DeviceWeights::new(&self.weights, &device::cpu());
        let (count, denominator) = match &self.batch {
            Batch::Games(games) => (games.len(), denominator(GAMES * Kind::Games.tokens())),
            Batch::Sequences(kind, sequences) => (sequences.len(), targets(*kind) as f64),
        };
        let sums = self.workers.map(count, |index| {
            let rng = with_dropout.then(|| CounterRng::new(1, self.steps, index as u64));
            let pass = ForwardPass::training(&device_weights, rng);
            let loss = self.loss(&pass, index);
            self.gradient.add(index, pass.gradient(&loss.share));
            loss.sum()
        });
        sums.iter().sum::<f64>() / denominator
    }

    fn loss(&self, pass: &ForwardPass, index: usize) -> Loss {
        match &self.batch {
            Batch::Games(games) => {
                let (games, positions) = (&games[index], GAMES * Kind::Games.tokens());
                labels::loss(self.network.flat_logits(pass, &games.tokens), &games.targets, positions)
            }
            Batch::Sequences(kind, sequences) => {
                let sequences = &sequences[index];
                let logits = self.network.logits_at(pass, &sequences.tokens, &sequences.rows);
                choice::loss(logits, &sequences.targets, targets(*kind))
            }
        }
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
