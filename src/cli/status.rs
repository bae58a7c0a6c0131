//! The arguments of `status`.

use clap::Args;

use super::PipelineArguments;

/// Arguments of `status`.
#[derive(Debug, Args)]
pub struct StatusArguments {
    /// A pipeline file (if it ends in .yaml or .yml), then only these stages
    #[arg(value_name = "FILE|STAGE")]
    pub stages: Vec<String>,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
