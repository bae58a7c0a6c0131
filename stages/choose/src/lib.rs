//! The stage `choose`: gets the move that a model chooses in each position, or reads those of another program from a file,
//! and compares them with the best ones.
//!
//! - `positions` and `games`: the positions, and the games before them; `counts`: those dropped.
//! - `checkpoint`: choices of a model of ours. `foreign`: choices of another program.
//! - `correctness`: valid, legal, best. `training_overlap`: positions that a model was trained on. `output`: rows.

mod checkpoint;
mod config;
mod correctness;
mod counts;
mod foreign;
mod games;
mod output;
mod positions;
mod probe;
mod table;
mod training_overlap;

use cwm_contract::{
    Context, Failure, Format, Input, Output, ParameterError, ParameterSpec, Parameters, ProbeContext, ProbeOutput,
    Stage, Values,
};

use config::Config;

/// The stage `choose`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Choose;

impl Stage for Choose {
    fn kind(&self) -> &'static str {
        "choose"
    }

    fn description(&self) -> &'static str {
        "Lets a model choose a move in every position, or takes what another program chose, and compares with the best moves."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::optional("checkpoint", Format::CHECKPOINT, "A model that `learn` trained."),
            Input::optional("choices", Format::CHOICES, "In place of a checkpoint: the choices of any program."),
            Input::one("evaluations", Format::EVALUATIONS, "The positions and their best moves."),
            Input::optional(
                "games",
                Format::GAMES,
                "The games of the positions: models of the forms `characters` and `moves` read them, and positions whose games \
                 are too long for one of these are dropped.",
            ),
            Input::optional(
                "train",
                Format::EVALUATIONS,
                "The positions that the model was trained on, to mark those that it has seen.",
            ),
        ]
    }

    fn check_inputs(&self, inputs: &[&str]) -> Option<String> {
        match ["checkpoint", "choices"].map(|name| inputs.contains(&name)) {
            [false, false] => Some("has no model: it needs an input `checkpoint`, or `choices`".into()),
            [true, true] => Some("has two models: it takes an input `checkpoint` or `choices`, not both".into()),
            _ => None,
        }
    }

    fn check_inputs_for(&self, values: &Values, inputs: &[&str]) -> Option<String> {
        Config::read(values).ok()?.problem_with(inputs.contains(&"choices"))
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::file(
                "choices",
                Format::CHOICES,
                "parquet",
                "One row for each position, in the order of the input.",
            ),
            Output::file(
                "counts",
                Format::COUNTS,
                "json",
                "How many positions there are, and what was dropped for what.",
            ),
        ]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).err().into_iter().collect()
    }

    fn uses_devices(&self) -> bool {
        true
    }

    fn probe(&self, context: &ProbeContext) -> Result<Option<ProbeOutput>, Failure> {
        probe::probe(context)
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        let config: Config = context.parameters()?;
        match context.optional_input("choices") {
            Some(path) => foreign::run(context, &config, path),
            None => checkpoint::run(context, &config),
        }
    }
}

#[cfg(test)]
mod tests;
