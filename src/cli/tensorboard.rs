//! The arguments of `tensorboard`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::PipelineArguments;
use super::completers::stages;

/// Arguments of `tensorboard`.
#[derive(Debug, Args)]
pub struct TensorboardArguments {
    /// Where to: a folder for each training, with event files and metrics.jsonl
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Only these stages
    #[arg(value_name = "STAGE", add = ArgValueCompleter::new(stages))]
    pub stages: Vec<String>,
    /// Go on until interrupted, with whatever is trained meanwhile
    #[arg(long)]
    pub follow: bool,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// One JSON object a line and training
    #[arg(long)]
    pub json: bool,
}
