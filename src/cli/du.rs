//! The arguments of `du`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `du`.
#[derive(Debug, Args)]
pub struct DuArguments {
    /// Only these stages
    #[arg(value_name = "STAGE")]
    pub stages: Vec<String>,
    /// The pipeline beside whose file the store is [default: pipeline.yaml here or in a folder above]
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
