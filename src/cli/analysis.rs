//! Arguments of the commands that compare runs and query results.

use std::path::PathBuf;

use clap::Args;

use super::PipelineArguments;
use super::completers::{complete, diff_operands, files_and_stages, outputs, variables};
use super::pipeline::{assignment, tolerance};

/// Arguments of `diff`.
#[derive(Debug, Args)]
pub struct DiffArguments {
    /// The first: `.` (the pipeline's lock file), a git revision, REV:PATH, a lock file, a run that `cwm runs` lists,
    /// tag:NAME, a report's folder, or the digest of a report
    #[arg(value_name = "A", add = diff_operands())]
    pub old: String,
    /// The second [default: `.`]
    #[arg(value_name = "B", conflicts_with = "sets", add = diff_operands())]
    pub new: Option<String>,
    /// The run with this value of a variable, in place of B (may be repeated)
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment, add = complete(variables))]
    pub sets: Vec<(String, String)>,
    /// Ignore differences up to SIZE: absolute for numbers up to 1, relative above
    #[arg(long, value_name = "SIZE", value_parser = tolerance, default_value_t = 0.0)]
    pub tolerance: f64,
    /// The pipeline [default: pipeline.yaml here or in a folder above]
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// Arguments of `runs`.
#[derive(Debug, Args)]
pub struct RunsArguments {
    /// A pipeline file (if it ends in .yaml or .yml), then only the metrics of these stages or cells
    #[arg(value_name = "FILE|STAGE", add = files_and_stages())]
    pub stages: Vec<String>,
    /// The pipeline [default: pipeline.yaml here or in a folder above]
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Delete a run with --set from the list; `cwm store gc --delete` then deletes its results (may be repeated)
    #[arg(long, value_name = "RUN")]
    pub delete: Vec<String>,
}

/// Arguments of `sql`.
#[derive(Debug, Args)]
pub struct SqlArguments {
    /// Stages, cells or outputs, such as bins or 'evaluation[test=held_out].scores'; last, the query
    #[arg(value_name = "STAGE[.OUTPUT]... QUERY", required = true, add = complete(outputs))]
    pub words: Vec<String>,
    /// List the tables and their columns, without a query
    #[arg(long)]
    pub tables: bool,
    /// Print comma-separated values
    #[arg(long, conflicts_with = "tables")]
    pub csv: bool,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}
