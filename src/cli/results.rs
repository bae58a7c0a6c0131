//! Arguments of the commands for results: logs, content, exports and pins.

use std::path::PathBuf;

use clap::Args;

use super::PipelineArguments;
use super::completers::{complete, files_and_stages, outputs, outputs_and_tags, stages};

/// Arguments of `show`.
#[derive(Debug, Args)]
pub struct ShowArguments {
    /// A stage, a cell or an output such as tokens.train; tag:NAME for the results of a tag; or a key or digest, or its first
    /// digits
    #[arg(value_name = "STAGE[.OUTPUT]|tag:NAME|HASH", add = complete(outputs_and_tags))]
    pub what: String,
    /// Print only the path of a stage's output in the store (read-only)
    #[arg(long, conflicts_with = "games")]
    pub path: bool,
    /// The number of games or positions to show, of games, datasets, matches, evaluations and choices
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub games: usize,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

/// Arguments of `log`. Its `-f` is that of `tail`, so that the pipeline is named by `--file` alone.
#[derive(Debug, Args)]
#[command(mut_arg("file", |arg| arg.short(None)))]
pub struct LogArguments {
    /// A pipeline file (if it ends in .yaml or .yml), then the stage, or one cell: 'model[size=d32/l1]'; without one, all logs
    /// are listed; with --tensorboard, any number [default: all]
    #[arg(value_name = "FILE|STAGE", add = files_and_stages())]
    pub stages: Vec<String>,
    /// Follow the log and curves of a running stage, in any process (here, -f is not --file)
    #[arg(short = 'f', long)]
    pub follow: bool,
    /// Write the curves of trainings for TensorBoard: a folder for each training, with event files and metrics.jsonl
    #[arg(long, value_name = "DIR")]
    pub tensorboard: Option<PathBuf>,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// A stage, with `.output` for one of several outputs; each cell of a matrix gets a folder below DIR
    #[arg(value_name = "STAGE[.OUTPUT]", add = complete(outputs))]
    pub source: String,
    /// The destination, created if absent; or `-`: a dataset is written to standard output as an Arrow IPC stream
    #[arg(value_name = "DIR|-")]
    pub destination: PathBuf,
    /// Include the 75 labels of every position (of a dataset)
    #[arg(long)]
    pub labels: bool,
    /// Export only the first N games (of a dataset)
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// Include the people and hosts that computed the results (of a report); without it, they are left out
    #[arg(long)]
    pub names: bool,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

impl ExportArguments {
    /// Returns true if the export goes to standard output.
    pub fn is_stream(&self) -> bool {
        self.destination.as_os_str() == "-"
    }
}

/// Arguments of `lock`.
#[derive(Debug, Args)]
pub struct LockArguments {
    /// Only these stages
    #[arg(value_name = "STAGE", add = complete(stages))]
    pub stages: Vec<String>,
    /// Fetch again, and pin the new content
    #[arg(long)]
    pub update: bool,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}
