//! The arguments of `tag`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::completers::{names_of_tags, stages};

/// Arguments of `tag`.
#[derive(Debug, Args)]
pub struct TagArguments {
    /// The name: letters, digits, `.`, `_`, `-`; without one, all tags are listed
    #[arg(value_name = "NAME", add = ArgValueCompleter::new(names_of_tags))]
    pub name: Option<String>,
    /// What it names: stages or cells as the lock file has them now, or (the beginning of) keys or digests [default: all
    /// that the lock file names]
    #[arg(value_name = "STAGE|HASH", add = ArgValueCompleter::new(stages))]
    pub what: Vec<String>,
    /// Take the name away from what it names now
    #[arg(long)]
    pub replace: bool,
    /// List all tags; with NAME, what that one names
    #[arg(long, conflicts_with_all = ["what", "replace"])]
    pub list: bool,
    /// Delete the tag; what only it named goes with the next `cwm gc`
    #[arg(long, conflicts_with_all = ["what", "replace", "list"], requires = "name")]
    pub delete: bool,
    /// The pipeline beside whose file the store is [default: pipeline.yaml here or in a folder above]
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
