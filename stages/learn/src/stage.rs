//! The stage as the executor sees it.

use std::collections::BTreeMap;

use cwm_contract::{
    Context, Failure, Format, Input, Output, ParameterError, ParameterSpec, Parameters, ProbeContext, ProbeOutput,
    Stage, Values, Work,
};
use cwm_models::families;
use cwm_training::work;

use crate::config::{Config, specs};
use crate::probe;

/// Tokens of a usual sequence, a board, and bytes of it in a file (docs/formats.md).
const SEQUENCE: (f64, f64) = (78.0, 330.0);

/// Trains a model on sequences.
#[derive(Clone, Copy, Debug)]
pub struct Learn;

impl Stage for Learn {
    fn kind(&self) -> &'static str {
        "learn"
    }

    fn description(&self) -> &'static str {
        "Trains a model of any family to answer in token sequences, such as with the best move, and keeps its curves."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::one("train", Format::SEQUENCES, "Sequences to learn from."),
            Input::optional("validation", Format::SEQUENCES, "Sequences to measure on while it learns."),
            Input::optional(
                "checkpoint",
                Format::CHECKPOINT,
                "A model of this architecture and these sequences: its weights are what the training begins with.",
            ),
        ]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::folder("checkpoint", Format::CHECKPOINT, "The trained model: weights and description."),
            Output::file(
                "curves",
                Format::CURVES,
                "jsonl",
                "Loss, learning rate and gradient norm by step; validation.",
            ),
            Output::file(
                "summary",
                Format::SUMMARY,
                "json",
                "The description of the trained model by itself: what it is, how it was trained, how it did.",
            ),
        ]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).map_or_else(|fault| vec![fault], |config| config.validate())
    }

    fn unused_parameters(&self, values: &Values) -> Vec<&'static str> {
        Config::read(values).map_or_else(|_| Vec::new(), |config| config.hyper.unused_parameters())
    }

    fn uses_devices(&self) -> bool {
        true
    }

    fn code_parts(&self, values: &Values) -> Option<Vec<String>> {
        let family = Config::read(values).ok().and_then(|config| families::find(&config.family).ok())?;
        Some(vec![family.part.to_owned()])
    }

    /// The vocabulary is not known yet, so that the parameters of its tables are left out.
    fn work(&self, values: &Values, inputs: &BTreeMap<String, Option<u64>>) -> Option<Work> {
        let config = Config::read(values).ok()?;
        let network = config.smallest_network().ok()?;
        let (tokens, bytes) = SEQUENCE;
        let rows = || {
            let rows = inputs.get("train").copied().flatten()? as f64 / bytes;
            Some(config.rows.map_or(rows, |limit| rows.min(limit as f64)))
        };
        work::work(&config.hyper, &network, tokens, rows, inputs.contains_key("validation"))
    }

    fn probe(&self, context: &ProbeContext) -> Result<Option<ProbeOutput>, Failure> {
        probe::probe(context).map(Some)
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        crate::run::run(context)
    }
}
