//! The stage `edit`: writes into the stream of a model, and measures by which board it plays or answers afterwards.
//!
//! - `cases`: prefixes of games; `comparison`: the square that is edited, and the boards before and after.
//!   `linear_probes`: the directions.
//! - `run`: passes. `row`: the format `edits`. `findings`: means, differences, tests. `study`: single edits.

mod cases;
mod comparison;
mod config;
mod findings;
mod linear_probes;
mod probe;
mod row;
mod run;
mod study;
#[cfg(test)]
mod tests;

use cwm_contract::{
    Context, Failure, Format, Input, Output, ParameterError, ParameterSpec, Parameters, ProbeContext, ProbeOutput,
    Stage, Values,
};
use cwm_models::families;

use config::Config;

/// The stage `edit`.
#[derive(Clone, Copy, Debug, Default)]
pub struct EditStage;

impl Stage for EditStage {
    fn kind(&self) -> &'static str {
        "edit"
    }

    fn description(&self) -> &'static str {
        "Edits a model's residual stream, to take a piece off the board that it keeps, and measures what it expects afterwards."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::one("checkpoint", Format::CHECKPOINT, "The model: of `learn` on words of moves, or of `train`."),
            Input::one("games", Format::DATASET, "The games whose prefixes are edited."),
            Input::optional_many(
                "probes",
                Format::PROBES,
                "Linear probes of the model, of piece and colour: the directions of the edits. Without them there are controls alone.",
            ),
        ]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::file("edits", Format::EDITS, "parquet", "One row for each case, layer, intervention and η."),
            Output::file("findings", Format::FINDINGS, "jsonl", "Means, differences with intervals, and tests."),
        ]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).map_or_else(|fault| vec![fault], |config| config.validate())
    }

    fn check_inputs_for(&self, values: &Values, inputs: &[&str]) -> Option<String> {
        let config = Config::read(values).ok().filter(|_| !inputs.contains(&"probes"))?;
        let has_probes_alone = config.interventions.iter().all(|name| name == "probe");
        let reader = if has_probes_alone { "`interventions: [probe]`" } else { "`cases`" };
        let is_needed = has_probes_alone || !config.cases.is_empty();
        is_needed.then(|| format!("needs an input `probes`, whose directions {reader} adds"))
    }

    fn code_parts(&self, values: &Values) -> Option<Vec<String>> {
        let family = families::find(&Config::read(values).ok()?.family?).ok()?;
        // The second is the form in which models of moves read games, a part of cwm-policy.
        Some(vec![family.part.to_owned(), "words".to_owned()])
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
