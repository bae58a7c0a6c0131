//! The stage `linear_probe`: reads boards from each layer of a model with linear probes.
//!
//! - `games`: the rows; `boards`: their boards. `inputs`: the values that a linear probe reads.
//! - `train`: training, and differences. `measure`: counts on other games. `findings`: the counts as findings.
//! - `output`: the folder of linear probes. `run`: the whole stage.

mod boards;
mod config;
mod findings;
mod games;
mod inputs;
mod measure;
mod output;
mod probe;
mod run;
mod train;

use cwm_contract::{
    Context, Failure, Format, Input, Output, ParameterError, ParameterSpec, Parameters, ProbeContext, ProbeOutput,
    Stage, Values,
};
use cwm_models::families;

use config::Config;

/// The stage `linear_probe`.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinearProbe;

impl Stage for LinearProbe {
    fn kind(&self) -> &'static str {
        "linear_probe"
    }

    fn description(&self) -> &'static str {
        "Trains linear probes that read boards from each layer of a model, and measures them on other games."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::one("checkpoint", Format::CHECKPOINT, "The model: of `train`, or of `learn` on the form `words`."),
            Input::one("train", Format::DATASET, "The games to train on."),
            Input::one(
                "test",
                Format::DATASET,
                "The games to measure on; none of them may be among those to train on.",
            ),
            Input::optional(
                "autoencoder",
                Format::AUTOENCODER,
                "Sparse autoencoders of the model: boards are then read from their latents, not from the stream itself.",
            ),
        ]
    }

    fn check_inputs_for(&self, values: &Values, inputs: &[&str]) -> Option<String> {
        let config = Config::read(values).ok().filter(|_| inputs.contains(&"autoencoder"))?;
        // Autoencoders are of the stream before the final norm.
        let of_stream = [("composition", config.composition), ("normed", config.normed)];
        let (name, _) = of_stream.into_iter().find(|(_, is_set)| *is_set)?;
        Some(format!("has an `autoencoder`, and `{name}` is of the stream"))
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::folder("probes", Format::PROBES, "The linear probe of each layer."),
            Output::file("findings", Format::FINDINGS, "jsonl", "What they read of the test games, with intervals."),
        ]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).map_or_else(|fault| vec![fault], |config| config.validate())
    }

    fn unused_parameters(&self, values: &Values) -> Vec<&'static str> {
        Config::read(values).map_or_else(|_| Vec::new(), |config| config.unused_parameters())
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
