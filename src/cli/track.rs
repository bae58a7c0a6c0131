//! The arguments of `track`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::ModelHintArguments;
use super::PipelineArguments;
use super::completers::stages;

/// Arguments of `track`.
#[derive(Debug, Args)]
pub struct TrackArguments {
    /// A stage that made a checkpoint, such as 'model[size=d128/l1]'; or a checkpoint's folder; or a file that `cwm import`
    /// takes
    #[arg(value_name = "STAGE|DIR|FILE", add = ArgValueCompleter::new(stages))]
    pub checkpoint: String,
    /// The moves, as e4, g1f3 or O-O [default: from --input, or standard input]
    #[arg(value_name = "MOVE")]
    pub moves: Vec<String>,
    /// Read them from this file, as moves or as PGN; `-` is standard input
    #[arg(short = 'i', long, value_name = "FILE", conflicts_with = "moves")]
    pub input: Option<PathBuf>,
    /// Which game of the PGN
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub game: u64,
    /// Only how it went: positions and labels that were right, and the first error
    #[arg(long)]
    pub summary: bool,
    /// One JSON object a line and position
    #[arg(long)]
    pub json: bool,
    /// What is known of a model from a file
    #[command(flatten)]
    pub hints: ModelHintArguments,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}
