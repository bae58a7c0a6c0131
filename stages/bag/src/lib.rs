//! The stage `bag`: positions with best moves, or with win probabilities of moves, from ChessBench's files, checked, on
//! all cores. Best moves are read in constant memory.
//!
//! It must not depend on what the positions are used for.

mod bag_file;
mod config;
mod counts;
mod probe;
mod record;
mod run;
mod values;

use cwm_contract::{
    Context, Failure, Format, Input, Needs, Output, ParameterError, ParameterSpec, Parameters, ProbeContext,
    ProbeOutput, Stage, Values,
};

use config::Config;

/// The stage `bag`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bag;

impl Stage for Bag {
    fn kind(&self) -> &'static str {
        "bag"
    }

    fn description(&self) -> &'static str {
        "Reads positions with their best moves, or with values of moves, from ChessBench's files, and checks each."
    }

    fn inputs(&self) -> Vec<Input> {
        let doc = "Files of positions with best moves (`behavioral_cloning_data.bag`) or with win probabilities of moves \
                   (`action_value_data.bag`), in this order.";
        vec![Input::list("bag", Format::ANY, doc)]
    }

    fn outputs(&self) -> Vec<Output> {
        let doc = "The positions in the order of the files, each with one move, or with all that have a value.";
        vec![
            Output::file("evaluations", Format::EVALUATIONS, "parquet", doc),
            Output::file("counts", Format::COUNTS, "json", "How many records were read, kept, and dropped for what."),
            Output::file("faults", Format::FAULTS, "jsonl", "Every record that was dropped, and its place."),
        ]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).map_or_else(|fault| vec![fault], |_| Vec::new())
    }

    fn unused_parameters(&self, values: &Values) -> Vec<&'static str> {
        Config::read(values).map_or_else(|_| Vec::new(), |config| config.unused_parameters())
    }

    fn needs(&self, _values: &Values) -> Needs {
        Needs { cpu: None, gpu: 0.0, memory: 512 << 20 }
    }

    fn code_parts(&self, _values: &Values) -> Option<Vec<String>> {
        // A position is checked by reading it as a board.
        Some(vec!["board".to_owned()])
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
