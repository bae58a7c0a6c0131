//! What the executor sees of this stage.

use cwm_contract::{Context, Failure, Fault, Format, Input, Output, ParameterSpec, Parameters, Stage, Values};
use cwm_models::families;

use crate::config::Config;

/// Scores a model on games.
#[derive(Clone, Copy, Debug)]
pub struct Evaluate;

impl Stage for Evaluate {
    fn kind(&self) -> &'static str {
        "evaluate"
    }

    fn about(&self) -> &'static str {
        "Scores a trained model on games, position by position."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::one("checkpoint", Format::CHECKPOINT, "The model."),
            Input::one("games", Format::DATASET, "The games."),
        ]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::file("scores", Format::SCORES, "parquet", "One row for each position, sorted by game and step.")]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<Fault> {
        match Config::read(values) {
            Ok(config) => config.faults(),
            Err(fault) => vec![fault],
        }
    }

    fn parts(&self, values: &Values) -> Option<Vec<String>> {
        let family = families::find(&Config::read(values).ok()?.family?).ok()?;
        Some(vec![family.part.to_owned()])
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        crate::run::run(context)
    }
}
