//! The arguments of `verify`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::PipelineArguments;
use super::completers::stages;

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Only the results of these stages or cells, as the lock file names them
    #[arg(value_name = "STAGE", add = ArgValueCompleter::new(stages))]
    pub stages: Vec<String>,
    /// Which pipeline's store
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
