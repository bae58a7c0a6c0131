//! The stage as the executor sees it.

use std::collections::BTreeMap;

use cwm_contract::{
    Context, Failure, Format, Input, Output, ParameterError, ParameterSpec, Parameters, ProbeContext, ProbeOutput,
    Stage, Values, Work,
};
use cwm_models::families;

use crate::config::Config;
use crate::{checkpoint, predictions, probe};

/// Bytes of a usual game as a board.
const BOARD: f64 = 16e3;

/// Bytes of the predictions of a position, for each byte of its game.
const PREDICTIONS: f64 = 10.0;

/// Scores a model on games.
#[derive(Clone, Copy, Debug)]
pub struct Evaluate;

impl Stage for Evaluate {
    fn kind(&self) -> &'static str {
        "evaluate"
    }

    fn description(&self) -> &'static str {
        "Scores a trained model, or what another program predicted, on games, position by position."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::optional("checkpoint", Format::CHECKPOINT, "The model."),
            Input::one("games", Format::DATASET, "The games."),
            Input::optional(
                "predictions",
                Format::PREDICTIONS,
                "In place of a checkpoint: the predictions of any model.",
            ),
        ]
    }

    fn check_inputs(&self, inputs: &[&str]) -> Option<String> {
        match ["checkpoint", "predictions"].map(|name| inputs.contains(&name)) {
            [false, false] => Some("has no model: it needs an input `checkpoint`, or `predictions`".into()),
            [true, true] => Some("has two models: it takes an input `checkpoint` or `predictions`, not both".into()),
            _ => None,
        }
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::file("scores", Format::SCORES, "parquet", "One row for each position, sorted by game and step."),
            Output::file("boards", Format::BOARDS, "jsonl", "The predicted and true boards of the first games."),
            Output::file(
                "predictions",
                Format::PREDICTIONS,
                "parquet",
                "The predicted labels of each position; no rows without `keep_predictions: true`.",
            )
            .when("checkpoint"),
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
        let config = Config::read(values).ok()?;
        if config.predictions_only_parameter().is_some() {
            // No code of any family affects them.
            return Some(Vec::new());
        }
        let family = families::find(&config.family?).ok()?;
        Some(vec![family.part.to_owned()])
    }

    fn work(&self, values: &Values, inputs: &BTreeMap<String, Option<u64>>) -> Option<Work> {
        let config = Config::read(values).ok()?;
        let games = inputs.get("games").copied().flatten()? as f64;
        let work = match inputs.get("checkpoint") {
            // A checkpoint is as large as its parameters, each of which has its part in each position.
            Some(checkpoint) => {
                let parameters = (*checkpoint)?;
                let group = format!("{} {:?} {}", config.family.unwrap_or_default(), config.options, config.precision);
                let passes = if config.keep_predictions { 2.0 } else { 1.0 };
                // Read, as weights, and as what the families' forms make of them.
                Work { memory: 4 * parameters, ..Work::new(group, passes * parameters as f64 * games) }
            }
            None => Work::new("predictions".into(), games),
        };
        // However large a model is, its scores are not: some 20 bytes a position, of which a dataset has 2.
        let boards = config.board_games as f64 * BOARD;
        let predictions = if config.keep_predictions { PREDICTIONS * games } else { 0.0 };
        let bytes = [("scores", 8.0 * games), ("boards", boards), ("predictions", predictions)];
        Some(Work { bytes: bytes.map(|(name, bytes)| (name.to_owned(), bytes)).into(), ..work })
    }

    fn probe(&self, context: &ProbeContext) -> Result<Option<ProbeOutput>, Failure> {
        probe::probe(context)
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        let config: Config = context.parameters()?;
        match context.optional_input("predictions") {
            Some(path) => predictions::run(context, &config, path),
            None => checkpoint::run(context, &config),
        }
    }
}
