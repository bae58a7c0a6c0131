//! The arguments of `push`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::PipelineArguments;
use super::completers::files_and_stages;

/// Arguments of `push`.
#[derive(Debug, Args)]
pub struct PushArguments {
    /// A pipeline file (if it ends in .yaml or .yml), then only these stages or cells [default: all]
    #[arg(value_name = "FILE|STAGE", add = ArgValueCompleter::new(files_and_stages))]
    pub words: Vec<String>,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// Only this remote of cwm.toml [default: the first that can be written]
    #[arg(long, value_name = "NAME")]
    pub remote: Option<String>,
    /// Send files also where the remote has them already: in place of what may be damaged there
    #[arg(long)]
    pub force: bool,
    /// Show all progress in plain lines
    #[arg(short = 'v', long)]
    pub verbose: bool,
    /// One JSON object a line on standard output
    #[arg(long)]
    pub json: bool,
}
