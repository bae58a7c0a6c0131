//! The arguments of `pin`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::PipelineArguments;
use super::completers::stages;

/// Arguments of `pin`.
#[derive(Debug, Args)]
pub struct PinArguments {
    /// Only these stages
    #[arg(value_name = "STAGE", add = ArgValueCompleter::new(stages))]
    pub stages: Vec<String>,
    /// Forget their pins, fetch anew, and pin what comes
    #[arg(long)]
    pub update: bool,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
