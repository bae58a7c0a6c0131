//! The arguments of `status`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::PipelineArguments;
use super::completers::files_and_stages;

/// Arguments of `status`.
#[derive(Debug, Args)]
pub struct StatusArguments {
    /// A pipeline file (if it ends in .yaml or .yml), then only these stages
    #[arg(value_name = "FILE|STAGE", add = ArgValueCompleter::new(files_and_stages))]
    pub stages: Vec<String>,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// Ask the remotes of cwm.toml, too, what they have
    #[arg(long)]
    pub remote: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
