//! The arguments of `log`.

use std::path::PathBuf;

use clap::Args;

use super::PipelineArguments;
use super::pipeline::assignment;

/// Arguments of `log`. Its `-f` is that of `tail`, so that the pipeline is named by `--file` alone.
#[derive(Debug, Args)]
pub struct LogArguments {
    /// The stage, or one cell: 'model[size=d32/l1]'; without one, all logs that there are are listed
    #[arg(value_name = "STAGE")]
    pub stage: Option<String>,
    /// Go on while the stage runs, in whatever process, and show its curves too
    #[arg(short = 'f', long)]
    pub follow: bool,
    /// The pipeline [default: pipeline.yaml here or in a folder above]
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Give a variable of the pipeline another value (may be repeated)
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    pub sets: Vec<(String, String)>,
}

impl LogArguments {
    /// Which pipeline.
    pub fn pipeline(&self) -> PipelineArguments {
        PipelineArguments { file: self.file.clone(), sets: self.sets.clone() }
    }
}
