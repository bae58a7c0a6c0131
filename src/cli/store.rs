//! Arguments of the commands for the store: `cwm store`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use cwm_contract::{Value, amount};
use cwm_gc::parse_time_span;

use super::PipelineArguments;
use super::completers::{complete, stages, stages_and_tags, tag_names, variables};
use super::pipeline::assignment;

/// The commands for the store.
#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// List the results in the store
    ///
    /// Lists those that pipeline.lock and the lock files of runs with --set name, or with --all every one.
    Ls(LsArguments),
    /// Print the size of each stage
    Du(DuArguments),
    /// List or delete unused results
    ///
    /// Lists, by stage, the results that no lock file and no tag names; with --delete, deletes them.
    Gc(GcArguments),
    /// Check hashes; quarantine damaged files
    Verify(VerifyArguments),
    /// Tag results to keep them
    ///
    /// `cwm store gc` keeps what a tag names. Without a name, lists the tags.
    Tag(TagArguments),
}

/// Arguments of `store ls`.
#[derive(Debug, Args)]
pub struct LsArguments {
    /// Only these stages or cells: model, 'model[size=d32/l1]'; tag:NAME lists what that tag names
    #[arg(value_name = "STAGE|tag:NAME", add = complete(stages_and_tags))]
    pub what: Vec<String>,
    /// List all results in the store, also those that no lock file of the pipeline names
    #[arg(long)]
    pub all: bool,
    /// The pipeline whose store is used [default: pipeline.yaml here or in a folder above]
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// Arguments of `store tag`.
#[derive(Debug, Args)]
pub struct TagArguments {
    /// The name: letters, digits, `.`, `_`, `-`; without one, all tags are listed
    #[arg(value_name = "NAME", add = complete(tag_names))]
    pub name: Option<String>,
    /// The results: stages or cells of the lock file, or keys or digests, or their first digits [default: all of the lock file]
    #[arg(value_name = "STAGE|HASH", add = complete(stages))]
    pub what: Vec<String>,
    /// Tag results of the recorded run with this value of a variable (may be repeated)
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment, add = complete(variables), requires = "name",
          conflicts_with_all = ["list", "delete"])]
    pub sets: Vec<(String, String)>,
    /// Move an existing tag to these results
    #[arg(long)]
    pub replace: bool,
    /// List all tags; with NAME, what that one names
    #[arg(long, conflicts_with_all = ["what", "replace"])]
    pub list: bool,
    /// Delete the tag; `cwm store gc --delete` then deletes what only it named
    #[arg(long, conflicts_with_all = ["what", "replace", "list"], requires = "name")]
    pub delete: bool,
    /// The pipeline whose store is used [default: pipeline.yaml here or in a folder above]
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// Arguments of `store du`.
#[derive(Debug, Args)]
pub struct DuArguments {
    /// Only these stages
    #[arg(value_name = "STAGE")]
    pub stages: Vec<String>,
    /// The pipeline whose store is used [default: pipeline.yaml here or in a folder above]
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// Arguments of `store gc`.
#[derive(Debug, Args)]
pub struct GcArguments {
    /// Delete the unused results; without it, they are only listed
    #[arg(long)]
    pub delete: bool,
    /// Keep results computed or used within this time: 30d, 12h, 2 weeks
    #[arg(long, value_name = "AGE", default_value = "0", value_parser = parse_time_span)]
    pub keep: Duration,
    /// Delete the least recently used results, and only until the rest has this size (200GB, 1.5TiB)
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_size: Option<u64>,
    /// Include unused downloads, contents of pipes and files recorded by hand, which cannot be computed again
    #[arg(long)]
    pub sources: bool,
    /// Stop keeping the results of this lock file, such as that of a deleted checkout
    #[arg(long, value_name = "LOCKFILE")]
    pub forget: Option<PathBuf>,
    /// The pipeline whose store is used [default: pipeline.yaml here or in a folder above]
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub file: Option<PathBuf>,
}

fn size(text: &str) -> Result<u64, String> {
    let bytes = if text == "0" { Some(0) } else { amount::parse_bytes(&Value::Text(text.to_owned())) };
    bytes.ok_or_else(|| format!("`{text}` is not a size such as 200GB or 1.5TiB"))
}

/// Arguments of `store verify`.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Only the results of these stages or cells, as the lock file names them
    #[arg(value_name = "STAGE", add = complete(stages))]
    pub stages: Vec<String>,
    /// The pipeline whose store is used
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}
