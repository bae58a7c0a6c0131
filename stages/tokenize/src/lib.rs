//! The stage `tokenize`: games into token sequences ready for training.
//!
//! It defines how a move becomes a token, and must not depend on labels (they are replayed from tokens), models, or how
//! games were chosen.

mod config;
mod probe;
mod run;
mod vocabulary;

use cwm_contract::{
    Context, Failure, Format, Input, Output, ParameterError, ParameterSpec, Parameters, ProbeContext, ProbeOutput,
    Stage, Values,
};

use config::Config;

/// The stage `tokenize`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tokenize;

/// The sets that can be given: name of input and of output.
const SETS: [(&str, &str); 3] = [("games", "dataset"), ("train", "train"), ("validation", "validation")];

impl Stage for Tokenize {
    fn kind(&self) -> &'static str {
        "tokenize"
    }

    fn description(&self) -> &'static str {
        "Writes games as token sequences, one memory-mapped row a game."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::optional("games", Format::GAMES, "Games that stay together; they become `dataset`."),
            Input::optional("train", Format::GAMES, "Games to train on."),
            Input::optional("validation", Format::GAMES, "Games to validate with."),
        ]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::folder("dataset", Format::DATASET, "The tokens of `games`.").when("games"),
            Output::folder("train", Format::DATASET, "The tokens of `train`.").when("train"),
            Output::folder("validation", Format::DATASET, "The tokens of `validation`.").when("validation"),
            Output::file("counts", Format::COUNTS, "json", "Games, plies, positions and different moves of each set."),
        ]
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

#[cfg(test)]
mod tests;
