//! `alignment`: whether a model's rows are alike where different moves led to one position.
//!
//! If the stream holds the position, it is the same whichever way the position was reached, up to what it holds of the way.

mod config;
mod measure;
mod members;
mod probe;
mod run;

use cwm_contract::{
    Context, Failure, Format, Input, Needs, Output, ParameterError, ParameterSpec, Parameters, ProbeContext,
    ProbeOutput, Stage, Values,
};
use cwm_models::families;

use config::Config;

/// Compares rows of equal positions.
#[derive(Clone, Copy, Debug)]
pub struct AlignmentStage;

impl Stage for AlignmentStage {
    fn kind(&self) -> &'static str {
        "alignment"
    }

    fn description(&self) -> &'static str {
        "Measures how alike a model's residual stream is where different moves led to the same position."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::one("checkpoint", Format::CHECKPOINT, "The model: of `learn` on words of moves, or of `train`."),
            Input::one("games", Format::DATASET, "The games that the sequences are from."),
            Input::one("transpositions", Format::TRANSPOSITIONS, "The sequences that end in the same position."),
        ]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::file(
            "findings",
            Format::FINDINGS,
            "jsonl",
            "Statistic, null distribution, p and effect of each layer.",
        )]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).map_or_else(|fault| vec![fault], |config| config.validate())
    }

    fn unused_parameters(&self, values: &Values) -> Vec<&'static str> {
        Config::read(values).map(|config| config.unused_parameters()).unwrap_or_default()
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
