//! The stage `compare`: how much lower or higher a model's loss is than another's, on the same games.
//!
//! Two models are compared game by game, which says far more than their two means: what is hard for one is hard for
//! the other. This crate knows no chess and no models: a score is a row of numbers.

mod bootstrap;
mod comparison;
mod config;
mod games;
mod model;
mod run;
#[cfg(test)]
mod tests;

use cwm_contract::{Context, Failure, Fault, Format, Input, Output, ParameterSpec, Parameters, Stage, Values};

use config::Config;

/// The stage `compare`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compare;

impl Stage for Compare {
    fn kind(&self) -> &'static str {
        "compare"
    }

    fn about(&self) -> &'static str {
        "Compares the losses of models with those of a baseline on the same games, with a bootstrap interval."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![Input::many("scores", Format::SCORES, "How each model did, the baseline among them.")]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::file(
            "differences",
            Format::DIFFERENCES,
            "jsonl",
            "For each model the difference from the baseline of its size, paired by game.",
        )]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<Fault> {
        Config::read(values).map_or_else(|fault| vec![fault], |config| config.faults())
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        run::run(context)
    }
}
