//! A model that reads a game as it goes on.

use burn::tensor::Device;
use cwm_contract::Failure;
use cwm_encoding::PAD;
use cwm_models::heads::labels::LOGITS;
use cwm_models::parameters::Weights;
use cwm_models::{DeviceWeights, ForwardPass, Network, RecurrentNetwork, RecurrentState, Tokens};

/// Tokens of a game that a model without a memory has to read again at every turn.
const LONGEST_PREFIX: usize = 4_096;

/// A model in the middle of a game.
pub enum GamePredictor<'m> {
    /// A model with a memory of constant size.
    Recurrent {
        /// Its recurrence.
        model: RecurrentNetwork<'m, f32>,
        /// Its parameters.
        weights: &'m Weights,
        /// The memory of the tokens so far.
        memory: RecurrentState<f32>,
    },
    /// A model without one: it reads all tokens so far whenever there are new ones.
    Whole {
        /// The model.
        network: &'m Network,
        /// Its parameters.
        device_weights: DeviceWeights<'m>,
        /// The tokens so far.
        tokens: Vec<u16>,
    },
}

impl<'m> GamePredictor<'m> {
    /// Returns a predictor before the first token.
    pub fn new(network: &'m Network, weights: &'m Weights, device: &Device) -> Self {
        match network.recurrent() {
            Some(model) => GamePredictor::Recurrent { model, weights, memory: model.start(weights) },
            None => GamePredictor::Whole {
                network,
                device_weights: DeviceWeights::new(weights, device),
                tokens: Vec::new(),
            },
        }
    }

    /// Reads these tokens and reports the logits after each, [1878]. With a memory each is reported before the next is
    /// read, so that nothing grows with their number; without one they are read at once.
    ///
    /// # Errors
    /// The game is too long for a model that reads it whole; or the callback fails, and what follows is not read.
    pub fn read(&mut self, next: &[u16], report: &mut dyn FnMut(&[f32]) -> Result<(), Failure>) -> Result<(), Failure> {
        match self {
            GamePredictor::Recurrent { model, weights, memory } => {
                next.iter().try_for_each(|&token| report(&model.step(weights, memory, token.into())))
            }
            GamePredictor::Whole { network, device_weights, tokens } => {
                check_prefix(tokens.len() + next.len())?;
                if next.is_empty() {
                    return Ok(());
                }
                tokens.extend_from_slice(next);
                let read = Tokens::padded([&tokens[..]], u32::from(PAD));
                let logits = network.flat_logits(&ForwardPass::evaluation(device_weights), &read).into_data();
                let logits = logits
                    .as_slice::<f32>()
                    .map_err(|error| Failure::internal(format!("logits are no floats: {error:?}")))?;
                let new = &logits[(tokens.len() - next.len()) * LOGITS..];
                new.chunks_exact(LOGITS).try_for_each(report)
            }
        }
    }
}

/// Refuses so many tokens for a model that reads the whole game at every turn.
///
/// # Errors
/// They are too many.
pub fn check_prefix(tokens: usize) -> Result<(), Failure> {
    if tokens <= LONGEST_PREFIX {
        return Ok(());
    }
    Err(Failure::input(format!(
        "this model reads the whole game at every turn, and one of more than {} plies is too long for that",
        LONGEST_PREFIX - 1
    ))
    .hint("the recurrent families follow games of any length"))
}
