//! Arguments of the commands for the store: its size, its garbage and its damage.

use std::path::PathBuf;

use clap::Args;
use cwm_contract::{Value, amount};
use cwm_gc::Age;

use super::PipelineArguments;
use super::completers::{complete, stages};

/// Arguments of `du`.
#[derive(Debug, Args)]
pub struct DuArguments {
    /// Only these stages
    #[arg(value_name = "STAGE")]
    pub stages: Vec<String>,
    /// The pipeline beside whose file the store is [default: pipeline.yaml here or in a folder above]
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// Arguments of `gc`.
#[derive(Debug, Args)]
pub struct GcArguments {
    /// Delete it; without this it is only listed
    #[arg(long)]
    pub delete: bool,
    /// Keep what was made or used within this time: 30d, 12h, 2 weeks
    #[arg(long, value_name = "AGE", default_value = "0")]
    pub keep: Age,
    /// Delete only as much as brings the results to this size (200GB, 1.5TiB), the least recently used first
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_size: Option<u64>,
    /// Also results that were fetched from the network, read from a pipe or taken over from a file, if nothing names them
    #[arg(long)]
    pub sources: bool,
    /// Forget a lock file that the store has seen, so that what only it names may go
    #[arg(long, value_name = "LOCKFILE")]
    pub forget: Option<PathBuf>,
    /// The pipeline beside whose file the store is [default: pipeline.yaml here or in a folder above]
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub file: Option<PathBuf>,
}

fn size(text: &str) -> Result<u64, String> {
    let bytes = if text == "0" { Some(0) } else { amount::parse_bytes(&Value::Text(text.to_owned())) };
    bytes.ok_or_else(|| format!("`{text}` is not a size such as 200GB or 1.5TiB"))
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Only the results of these stages or cells, as the lock file names them
    #[arg(value_name = "STAGE", add = complete(stages))]
    pub stages: Vec<String>,
    /// The pipeline whose store is meant
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}
