//! The stage `match`: games between two players, of which each may be a model, an engine or random.
//!
//! Games are played side by side, one a core; a game depends on its number, the players and the parameters alone. A game that
//! is finished is kept at once. This crate must not depend on what is computed from the results.

mod board;
mod config;
mod game;
mod kind;
mod openings;
mod output;
mod probe;
mod run;
mod side;
mod table;

use std::collections::BTreeMap;

use cwm_contract::{
    Context, Failure, Format, Input, Needs, Output, ParameterError, ParameterSpec, Parameters, ProbeContext,
    ProbeOutput, Stage, Values, Work,
};

use config::Config;

/// The stage `match`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Match;

impl Stage for Match {
    fn kind(&self) -> &'static str {
        "match"
    }

    fn description(&self) -> &'static str {
        "Plays games between two players: models, an engine, or random moves."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::optional("model", Format::CHECKPOINT, "The player `model`, trained by `learn`."),
            Input::optional("other", Format::CHECKPOINT, "The player `other`, likewise."),
            Input::optional("openings", Format::GAMES, "Games whose first moves are the openings."),
        ]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::file("games", Format::PGN, "pgn.zst", "The games, in order."),
            Output::file("matches", Format::MATCHES, "parquet", "The results, one row a game."),
            Output::file(
                "counts",
                Format::COUNTS,
                "json",
                "How many games were won, drawn and lost, and how they ended.",
            ),
        ]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).map_or_else(|fault| vec![fault], |config| config.validate())
    }

    fn check_inputs_for(&self, values: &Values, inputs: &[&str]) -> Option<String> {
        Config::read(values).ok()?.check_inputs(inputs)
    }

    fn unused_parameters(&self, values: &Values) -> Vec<&'static str> {
        Config::read(values).map_or_else(|_| Vec::new(), |config| config.unused_parameters())
    }

    fn needs(&self, _values: &Values) -> Needs {
        Needs { cpu: None, gpu: 0.0, memory: 512 << 20 }
    }

    fn work(&self, values: &Values, _inputs: &BTreeMap<String, Option<u64>>) -> Option<Work> {
        let config = Config::read(values).ok()?;
        // Games of other players take other times.
        Some(Work::new(format!("{} {}", config.first, config.second), config.games as f64))
    }

    fn code_parts(&self, values: &Values) -> Option<Vec<String>> {
        // Without a model, no code of any family or form affects the games.
        let config = Config::read(values).ok()?;
        (!config.has_model()).then(Vec::new)
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
