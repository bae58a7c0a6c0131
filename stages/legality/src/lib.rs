//! The stage `legality`: how often the word that a model of moves expects most continues a legal move.
//!
//! - `games`: the words of games, and which words continue a legal move at each.
//! - `score`: the scores of a row of logits. `whole_moves`: moves of which the model answers every word.
//! - `totals`: means by phase with their intervals, as findings.
//!
//! It must not depend on how a model was trained, or which families there are.

mod config;
mod games;
mod probe;
mod run;
mod score;
mod totals;
mod whole_moves;

use cwm_contract::{
    Context, Failure, Format, Input, Output, ParameterError, ParameterSpec, Parameters, ProbeContext, ProbeOutput,
    Stage, Values,
};

use config::Config;
use cwm_models::families;

/// The stage `legality`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Legality;

impl Stage for Legality {
    fn kind(&self) -> &'static str {
        "legality"
    }

    fn description(&self) -> &'static str {
        "Measures how often the word that a model of moves expects most continues a legal move."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::one(
                "checkpoint",
                Format::CHECKPOINT,
                "A model that `learn` trained on sequences of the form `words`.",
            ),
            Input::one("games", Format::DATASET, "The games whose words it reads."),
            Input::optional(
                "train",
                Format::DATASET,
                "The games that it was trained on, to count those that it has seen.",
            ),
        ]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::file("legality", Format::LEGALITY, "parquet", "One row for each word of each game."),
            Output::file("findings", Format::FINDINGS, "jsonl", "Means over all words, by phase, and of whole moves."),
        ]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).map_or_else(|fault| vec![fault], |config| config.validate())
    }

    fn uses_devices(&self) -> bool {
        true
    }

    fn code_parts(&self, values: &Values) -> Option<Vec<String>> {
        let family = families::find(&Config::read(values).ok()?.family?).ok()?;
        // The second is the form in which the model reads games, a part of cwm-policy.
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
