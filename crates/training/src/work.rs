//! The amount of work of a training, for estimates of its time.

use cwm_contract::Work;
use cwm_models::Network;

use crate::hyperparameters::Hyperparameters;

/// Bytes of memory for each parameter: weights, moments, snapshot and gradient, and what was measured above those.
const PER_PARAMETER: u64 = 26;
/// Bytes of memory for each parameter of the best weights, with `checkpoint: best`.
const PER_PARAMETER_OF_BEST: u64 = 4;
/// Bytes of memory for each token of a micro-batch, layer and element of the model's width: what a pass keeps for its
/// gradient, about 25 numbers.
const PER_ACTIVATION: u64 = 100;
/// Bytes of a line of curves.
const LINE: (f64, f64) = (105.0, 165.0);

/// Tokens that go through the model, times its parameters; memory; and the bytes of the outputs `checkpoint`, `curves` and
/// `summary`. `examples` gives how many there are, of so many `tokens` usually, where no parameter gives the number of steps.
pub fn work(
    hyper: &Hyperparameters,
    network: &Network,
    tokens: f64,
    examples: impl FnOnce() -> Option<f64>,
    is_validated: bool,
) -> Option<Work> {
    let batch = hyper.batch_size as f64;
    let steps = match hyper.steps {
        Some(steps) => steps as f64,
        None => examples()? * hyper.epochs.unwrap_or(1) as f64 / batch,
    };
    let (architecture, parameters) = (network.architecture(), network.layout().total() as u64);
    let weights = 4.0 * parameters as f64;
    let validated = if is_validated { steps / hyper.validation_every as f64 + 1.0 } else { 0.0 };
    let curves = LINE.0 * steps / hyper.curve_every as f64 + LINE.1 * validated;
    let bytes = [("checkpoint", weights + 1e3), ("curves", curves), ("summary", 1e3)];

    let size = architecture.size;
    let at_once = hyper.micro_batch_tokens.min((batch * tokens) as u64);
    let per_parameter = PER_PARAMETER + if hyper.keeps_best() { PER_PARAMETER_OF_BEST } else { 0 };
    let activations = at_once.saturating_mul(size.width as u64 * size.layers as u64).saturating_mul(PER_ACTIVATION);
    Some(Work {
        group: format!("{} {:?} {}", architecture.family, architecture.options, hyper.precision),
        units: steps * batch * tokens * parameters as f64,
        memory: activations.saturating_add(parameters * per_parameter),
        bytes: bytes.into_iter().map(|(output, bytes)| (output.to_owned(), bytes)).collect(),
    })
}
