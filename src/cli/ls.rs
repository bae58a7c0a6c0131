//! The arguments of `ls`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::completers::stages_and_tags;

/// Arguments of `ls`.
#[derive(Debug, Args)]
pub struct LsArguments {
    /// Only these stages or cells: model, 'model[size=d32/l1]'; tag:NAME lists what that tag names
    #[arg(value_name = "STAGE|tag:NAME", add = ArgValueCompleter::new(stages_and_tags))]
    pub what: Vec<String>,
    /// All results that the store has, also those that the pipeline's lock file does not name
    #[arg(long)]
    pub all: bool,
    /// The pipeline beside whose file the store is [default: pipeline.yaml here or in a folder above]
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
