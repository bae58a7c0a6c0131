//! The stage `compare`: how much lower or higher a model's loss and accuracies are than another's, on the same games.
//!
//! Two models are compared game by game, which shows far more than their two means: what is hard for one is hard for
//! the other. This crate depends on neither chess nor models: a score is a row of numbers.

mod comparison;
mod config;
mod games;
mod metric;
mod model;
mod on_cores;
mod probe;
mod resampling;
mod run;
mod runs;
#[cfg(test)]
mod tests;

use cwm_contract::{
    Context, Failure, Format, Input, Output, ParameterError, ParameterSpec, Parameters, ProbeContext, ProbeOutput,
    Stage, Values,
};

use config::Config;

/// The stage `compare`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compare;

impl Stage for Compare {
    fn kind(&self) -> &'static str {
        "compare"
    }

    fn description(&self) -> &'static str {
        "Compares losses and accuracies of models on the same games, with bootstrap intervals and probabilities."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![Input::many("scores", Format::SCORES, "Scores of the models, the baseline among them.")]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::file(
            "differences",
            Format::DIFFERENCES,
            "jsonl",
            "Differences of each pair of models, paired by game.",
        )]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).map_or_else(|fault| vec![fault], |config| config.validate())
    }

    fn probe(&self, context: &ProbeContext) -> Result<Option<ProbeOutput>, Failure> {
        probe::probe(context).map(Some)
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        run::run(context)
    }
}
