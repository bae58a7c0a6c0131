//! The arguments of `diff`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::completers::compared;

/// Arguments of `diff`.
#[derive(Debug, Args)]
pub struct DiffArguments {
    /// The first: a report's folder, of which `tables/*.json` are compared; a lock file; `.`, the lock file of the pipeline;
    /// a revision in git, of that lock file or as REV:path of another; or tag:NAME; or (the beginning of) a digest of a report
    /// in the store
    #[arg(value_name = "A", add = ArgValueCompleter::new(compared))]
    pub old: String,
    /// The second
    #[arg(value_name = "B", default_value = ".", add = ArgValueCompleter::new(compared))]
    pub new: String,
    /// Numbers of tables that differ by at most so much are equal: absolutely up to 1, relatively above
    #[arg(long, value_name = "SIZE", default_value_t = 0.0)]
    pub tolerance: f64,
    /// The pipeline [default: pipeline.yaml here or in a folder above]
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
