//! `autoencoder`: trains sparse autoencoders on the residual stream of a model, and measures what they keep of it.
//!
//! A dictionary of directions, far more than the stream has channels, of which each row uses few: what the model computes with
//! may be easier to name in it. All sites are trained in one pass over the games.

mod config;
mod games;
mod losses;
mod measure;
mod probe;
mod replacement;
mod reservoir;
mod run;
mod state;
mod train;
mod trainer;

use cwm_contract::{
    Context, Failure, Format, Input, Needs, Output, ParameterError, ParameterSpec, Parameters, ProbeContext,
    ProbeOutput, Stage, Values,
};
use cwm_models::families;

use config::Config;

/// Trains sparse autoencoders.
#[derive(Clone, Copy, Debug)]
pub struct AutoencoderStage;

impl Stage for AutoencoderStage {
    fn kind(&self) -> &'static str {
        "autoencoder"
    }

    fn description(&self) -> &'static str {
        "Trains gated sparse autoencoders on a model's residual stream, one a layer, and measures what they keep of it."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::one("checkpoint", Format::CHECKPOINT, "The model: of `learn` on words of moves, or of `train`."),
            Input::one("train", Format::DATASET, "The games whose tokens are trained on."),
            Input::one("test", Format::DATASET, "The games to measure on."),
        ]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::folder("autoencoder", Format::AUTOENCODER, "The autoencoders, a file for each layer."),
            Output::file(
                "findings",
                Format::FINDINGS,
                "jsonl",
                "What each keeps of the stream and of the model's loss.",
            ),
            Output::file("curves", Format::CURVES, "jsonl", "Losses while training."),
        ]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).map_or_else(|fault| vec![fault], |config| config.validate())
    }

    fn unused_parameters(&self, _values: &Values) -> Vec<&'static str> {
        vec!["checkpoint_every"]
    }

    fn needs(&self, _values: &Values) -> Needs {
        Needs { cpu: None, ..Needs::default() }
    }

    fn uses_devices(&self) -> bool {
        true
    }

    fn code_parts(&self, values: &Values) -> Option<Vec<String>> {
        let family = families::find(&Config::read(values).ok()?.family?).ok()?;
        // The second is the form in which models of moves read games, a part of cwm-policy.
        Some(vec![family.part.to_owned(), "words".to_owned()])
    }

    fn probe(&self, context: &ProbeContext) -> Result<Option<ProbeOutput>, Failure> {
        probe::probe(context).map(Some)
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        run::run(context)
    }
}

#[cfg(test)]
mod tests;
