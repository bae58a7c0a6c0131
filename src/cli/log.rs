//! The arguments of `log`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::PipelineArguments;
use super::completers::{stages, variables};
use super::pipeline::assignment;

/// Arguments of `log`. Its `-f` is that of `tail`, so that the pipeline is named by `--file` alone.
#[derive(Debug, Args)]
pub struct LogArguments {
    /// The stage, or one cell: 'model[size=d32/l1]'; without one, all logs that there are are listed
    #[arg(value_name = "STAGE", add = ArgValueCompleter::new(stages))]
    pub stage: Option<String>,
    /// Go on while the stage runs, in whatever process, and show its curves too
    #[arg(short = 'f', long)]
    pub follow: bool,
    /// The pipeline [default: pipeline.yaml here or in a folder above]
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Give a variable of the pipeline another value (may be repeated)
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment, add = ArgValueCompleter::new(variables))]
    pub sets: Vec<(String, String)>,
    /// As JSON
    #[arg(long, conflicts_with = "follow")]
    pub json: bool,
}

impl LogArguments {
    /// Which pipeline.
    pub fn pipeline(&self) -> PipelineArguments {
        PipelineArguments { file: self.file.clone(), sets: self.sets.clone() }
    }
}
