//! The arguments of `verify`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::PipelineArguments;
use super::candidates::stages;

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Only the results of these stages or cells, as the lock file names them
    #[arg(value_name = "STAGE", add = ArgValueCompleter::new(stages))]
    pub stages: Vec<String>,
    /// Compute these stages anew beside what is recorded of them, whoever made it, and compare; nothing is changed. Exit
    /// code 8 if other bytes come out
    #[arg(long, value_name = "STAGE", num_args = 1..)]
    pub rebuild: Vec<String>,
    /// Which pipeline's store
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
