//! Arguments of the commands for graphs, tables, models and curves.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::completers::{complete, diff_operands, files_and_stages, outputs, stages, variables};
use super::pipeline::assignment;
use super::{ModelHintArguments, PipelineArguments};

/// Arguments of `dag`.
#[derive(Debug, Args)]
pub struct DagArguments {
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// The notation [default: text]
    #[arg(long, value_enum)]
    pub format: Option<DagFormat>,
    /// Every cell of every matrix, not one box a stage
    #[arg(long)]
    pub cells: bool,
}

/// Notations of `dag`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DagFormat {
    /// One line a stage
    Text,
    /// A Mermaid flowchart
    Mermaid,
    /// Graphviz
    Dot,
}

/// Arguments of `diff`.
#[derive(Debug, Args)]
pub struct DiffArguments {
    /// The first: a report's folder, of which `tables/*.json` are compared; a lock file; `.`, the lock file of the pipeline;
    /// a revision in git, of that lock file or as REV:path of another; or tag:NAME; a name that `cwm runs` prints; or (the beginning of) a digest of a report
    /// in the store
    #[arg(value_name = "A", add = diff_operands())]
    pub old: String,
    /// The second [default: `.`]
    #[arg(value_name = "B", conflicts_with = "sets", add = diff_operands())]
    pub new: Option<String>,
    /// The run with this value of a variable, in place of B (may be repeated)
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment, add = complete(variables))]
    pub sets: Vec<(String, String)>,
    /// Numbers of tables that differ by at most so much are equal: absolutely up to 1, relatively above
    #[arg(long, value_name = "SIZE", default_value_t = 0.0)]
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
    /// Drop a run with `--set`; what only it named goes with the next `cwm gc` (may be repeated)
    #[arg(long, value_name = "RUN")]
    pub delete: Vec<String>,
}

/// Arguments of `sql`.
#[derive(Debug, Args)]
pub struct SqlArguments {
    /// Stages, cells or outputs, such as bins or 'evaluation[test=held_out].scores'; last, the query
    #[arg(value_name = "STAGE[.PORT]... QUERY", required = true, add = complete(outputs))]
    pub words: Vec<String>,
    /// List the tables and their columns; there is no query then
    #[arg(long)]
    pub tables: bool,
    /// Comma-separated values
    #[arg(long, conflicts_with = "tables")]
    pub csv: bool,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

impl SqlArguments {
    /// Returns the words that name artifacts, and the query unless only the tables are listed.
    ///
    /// # Errors
    /// One of them is missing.
    pub fn sources_and_query(&self) -> Result<(&[String], Option<&str>), String> {
        match self.words.as_slice() {
            sources if self.tables => Ok((sources, None)),
            [sources @ .., query] if !sources.is_empty() => Ok((sources, Some(query))),
            _ => Err("a stage and a query are wanted: cwm sql STAGE 'select ...'".to_owned()),
        }
    }
}

/// Arguments of `track`.
#[derive(Debug, Args)]
pub struct TrackArguments {
    /// A stage that made a checkpoint, such as 'model[size=d128/l1]'; or a checkpoint's folder; or a file that `cwm import`
    /// takes
    #[arg(value_name = "STAGE|DIR|FILE", add = complete(stages))]
    pub checkpoint: String,
    /// The moves, as e4, g1f3 or O-O [default: from --input, or standard input]
    #[arg(value_name = "MOVE")]
    pub moves: Vec<String>,
    /// Read them from this file, as moves or as PGN; `-` is standard input
    #[arg(short = 'i', long, value_name = "FILE", conflicts_with = "moves")]
    pub input: Option<PathBuf>,
    /// The number of the game in the PGN
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub game: u64,
    /// Only a summary: positions and labels that were right, and the first error
    #[arg(long)]
    pub summary: bool,
    /// Facts about a model from a file
    #[command(flatten)]
    pub hints: ModelHintArguments,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

/// Arguments of `parity`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct ParityArguments {
    /// Fixtures (.safetensors), lr-schedules.json, metrics.json, param-counts.json, or folders of them
    #[arg(value_name = "FILE|DIR", required = true)]
    pub files: Vec<PathBuf>,
    /// The family of the fixtures [default: found by their manifest.json, names and shapes]
    #[arg(long, value_name = "NAME")]
    pub family: Option<String>,
    /// An option of the family, such as heads=2 or rope=standard (may be repeated)
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = assignment)]
    pub options: Vec<(String, String)>,
    /// The device to compute on
    #[arg(long, value_name = "NAME", default_value = "cpu")]
    pub device: String,
}

/// Arguments of `tensorboard`.
#[derive(Debug, Args)]
pub struct TensorboardArguments {
    /// The destination: a folder for each training, with event files and metrics.jsonl
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Only these stages
    #[arg(value_name = "STAGE", add = complete(stages))]
    pub stages: Vec<String>,
    /// Go on until interrupted, with whatever is trained meanwhile
    #[arg(long)]
    pub follow: bool,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}
