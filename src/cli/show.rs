//! The arguments of `show`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::PipelineArguments;
use super::completers::results;

/// Arguments of `show`.
#[derive(Debug, Args)]
pub struct ShowArguments {
    /// A stage, a cell, an output such as tokens.train; tag:NAME, all that the tag names; or (the beginning of) a key or
    /// digest
    #[arg(value_name = "STAGE[.PORT]|tag:NAME|HASH", add = ArgValueCompleter::new(results))]
    pub what: String,
    /// How many games to show of games and datasets
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub games: usize,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
