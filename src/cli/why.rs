//! The arguments of `why`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::PipelineArguments;
use super::completers::files_and_stages;

/// Arguments of `why`.
#[derive(Debug, Args)]
pub struct WhyArguments {
    /// A pipeline file (if it ends in .yaml or .yml), then stages, or one cell: 'model[size=d32/l1]'
    #[arg(value_name = "FILE|STAGE", required = true, add = ArgValueCompleter::new(files_and_stages))]
    pub stages: Vec<String>,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
