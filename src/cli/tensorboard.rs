//! The arguments of `tensorboard`.

use std::path::PathBuf;

use clap::Args;

use super::PipelineArguments;

/// Arguments of `tensorboard`.
#[derive(Debug, Args)]
pub struct TensorboardArguments {
    /// Where to: a folder for each training, with event files and metrics.jsonl
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Only these stages
    #[arg(value_name = "STAGE")]
    pub stages: Vec<String>,
    /// Go on until interrupted, with whatever is trained meanwhile
    #[arg(long)]
    pub follow: bool,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}
