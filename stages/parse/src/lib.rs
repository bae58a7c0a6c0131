//! The stage `parse`: PGN text into replayed games, on all cores, in constant memory.
//!
//! It decides which games belong to the corpus and what they are called. It must not depend on tokens, labels, splits or
//! how its input was made.

mod authors;
mod config;
mod corpus;
mod parsed_block;
mod pipeline;
mod probe;
mod rules;
mod run;

use cwm_contract::{
    Context, Failure, Format, Input, Needs, Output, ParameterError, ParameterSpec, Parameters, ProbeContext,
    ProbeOutput, Stage, Values,
};

use config::Config;

/// The stage `parse`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parse;

impl Stage for Parse {
    fn kind(&self) -> &'static str {
        "parse"
    }

    fn description(&self) -> &'static str {
        "Reads games from PGN, keeps those that follow the rules, and gives each its id."
    }

    fn inputs(&self) -> Vec<Input> {
        let doc = "The games: files, or folders of files, plain or compressed with zstd, gzip or bzip2, in this order.";
        vec![Input::list("pgn", Format::PGN, doc)]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::folder("games", Format::GAMES, "The kept games in the order of the files."),
            Output::file("counts", Format::COUNTS, "json", "How many games were read, kept, and dropped for what."),
            Output::file("faults", Format::FAULTS, "jsonl", "Every faulty game that was dropped, and its place."),
        ]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).map_or_else(|fault| vec![fault], |config| config.validate())
    }

    fn needs(&self, values: &Values) -> Needs {
        // By the authors' rules one thread reads, and another decompresses.
        let authors = Config::read(values).is_ok_and(|config| config.rules == "authors");
        Needs { cpu: authors.then_some(2), gpu: 0.0, memory: 512 << 20 }
    }

    fn unused_parameters(&self, values: &Values) -> Vec<&'static str> {
        Config::read(values).map_or_else(|_| Vec::new(), |config| config.unused_parameters())
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
