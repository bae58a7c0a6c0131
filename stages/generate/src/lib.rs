//! The stage `generate`: a model of ours answers items in the small language, and its words are written as texts, which are
//! graded as those of any player.
//!
//! It must not depend on how answers are judged, or which families there are.

mod config;
mod output;
mod probe;
mod run;

use cwm_contract::{
    Context, Failure, Format, Input, Output, ParameterError, ParameterSpec, Parameters, ProbeContext, ProbeOutput,
    Stage, Values,
};

use config::Config;

/// The stage `generate`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Generate;

impl Stage for Generate {
    fn kind(&self) -> &'static str {
        "generate"
    }

    fn description(&self) -> &'static str {
        "Lets a model that was trained on examples in the small language answer items, word by word."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::one(
                "checkpoint",
                Format::CHECKPOINT,
                "A model that `learn` trained on sequences of the form `speech`.",
            ),
            Input::list("items", Format::ITEMS, "The items to answer, of the tasks `reasoning_…`."),
        ]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::file("answers", Format::ANSWERS, "parquet", "One row an item and sample, in the items' order.")]
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

    fn probe(&self, context: &ProbeContext) -> Result<Option<ProbeOutput>, Failure> {
        probe::probe(context).map(Some)
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        run::run(context)
    }
}

#[cfg(test)]
mod tests;
