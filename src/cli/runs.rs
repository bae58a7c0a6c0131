//! Arguments of the commands for running pipelines and explaining what runs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use cwm_action::AttemptOptions;
use cwm_core::Key;

use super::PipelineArguments;
use super::completers::{complete, devices, files_and_stages, stages};
use super::pipeline::core_count;

/// Arguments of `init`.
#[derive(Debug, Args)]
pub struct InitArguments {
    /// The folder, created if absent
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Use shell commands only, no chess
    #[arg(long)]
    pub command: bool,
}

/// Arguments of `run`.
#[derive(Clone, Debug, Default, Args)]
pub struct RunArguments {
    /// A pipeline file (if it ends in .yaml or .yml), then stages, such as model or 'model[size=d32/l1]' [default: all]
    #[arg(value_name = "FILE|STAGE", add = files_and_stages())]
    pub words: Vec<String>,
    /// The pipeline and its variables
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// The execution of its stages
    #[command(flatten)]
    pub execution: ExecutionArguments,
    /// The output of progress
    #[arg(long, value_enum, default_value_t = OutputStyle::Auto)]
    pub output: OutputStyle,
    /// Print what would run, and why; run nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Run these stages again and compare the bytes with the recorded results; change nothing. Exit code 8 if they differ
    #[arg(long, conflicts_with_all = ["dry_run", "force"])]
    pub check: bool,
    /// Run these stages even if they are cached (may be repeated)
    #[arg(long, value_name = "STAGE", add = complete(stages))]
    pub force: Vec<String>,
    /// The results that it fetches from remotes and uploads to them
    #[command(flatten)]
    pub sharing: SharingArguments,
    /// Run again whenever the pipeline or a file that it reads changes; Ctrl-C ends it
    #[arg(long, conflicts_with_all = ["dry_run", "check", "force", "detach"])]
    pub watch: bool,
    /// Print one line for each cell, and all progress in plain output
    #[arg(short = 'v', long)]
    pub verbose: bool,
}

/// Options of how the stages of a run are executed: the cores, the device and the executor.
#[derive(Clone, Debug, Default, Args)]
pub struct ExecutionArguments {
    /// Cores to use [default: all]
    #[arg(short = 'j', long, value_name = "N", value_parser = core_count)]
    pub jobs: Option<u32>,
    /// The device of stages that train or evaluate, in place of the pipeline's: auto, cpu, cuda:0, wgpu:0, …
    #[arg(long, env = "CWM_DEVICE", value_name = "NAME", add = complete(devices))]
    pub device: Option<cwm_contract::DeviceChoice>,
    /// The executor, in place of the one in `cwm.toml`
    #[arg(long, value_enum, value_name = "NAME")]
    pub executor: Option<ExecutorChoice>,
    /// Submit the run itself as a Slurm job, and exit
    #[arg(long, conflicts_with = "dry_run")]
    pub detach: bool,
}

/// Options of what a run fetches from remotes and uploads to them.
#[derive(Clone, Debug, Default, Args)]
pub struct SharingArguments {
    /// Fetch results that a remote has instead of computing them
    #[arg(long, conflicts_with_all = ["dry_run", "check"])]
    pub pull: bool,
    /// Upload results to the first writable remote at the end
    #[arg(long, conflicts_with_all = ["dry_run", "check"])]
    pub push: bool,
    /// Use only this remote, for --pull, --push and jobs with `store = "remote"`
    #[arg(long, value_name = "NAME")]
    pub remote: Option<String>,
}

/// The executor of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExecutorChoice {
    /// Processes on this machine
    Local,
    /// Jobs of Slurm
    Slurm,
}

/// The form in which a run prints its progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputStyle {
    /// Live on a terminal, plain lines elsewhere
    #[default]
    Auto,
    /// Live bars
    Live,
    /// One line for each event
    Plain,
}

/// Arguments of `status`.
#[derive(Debug, Args)]
pub struct StatusArguments {
    /// A pipeline file (if it ends in .yaml or .yml), then only these stages
    #[arg(value_name = "FILE|STAGE", add = files_and_stages())]
    pub stages: Vec<String>,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// Show which results the remotes of cwm.toml have
    #[arg(long)]
    pub remote: bool,
    /// Draw the graph of the whole pipeline, a node for each stage; with -v, for each cell
    #[arg(long, value_enum, value_name = "NOTATION", num_args = 0..=1, require_equals = true, default_missing_value = "text",
          conflicts_with = "remote")]
    pub graph: Option<GraphNotation>,
    /// Print one line for each cell
    #[arg(short = 'v', long)]
    pub verbose: bool,
}

/// Notations of `status --graph`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphNotation {
    /// One line for each stage
    Text,
    /// A Mermaid flowchart
    Mermaid,
    /// Graphviz
    Dot,
}

/// Arguments of `why`.
#[derive(Debug, Args)]
pub struct WhyArguments {
    /// A pipeline file (if it ends in .yaml or .yml), then stages, or one cell: 'model[size=d32/l1]' [default: where each change
    /// is]
    #[arg(value_name = "FILE|STAGE", add = files_and_stages())]
    pub stages: Vec<String>,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// Print one line for each cell
    #[arg(short = 'v', long)]
    pub verbose: bool,
}

/// Arguments of `accept`.
#[derive(Debug, Args)]
pub struct AcceptArguments {
    /// A pipeline file (if it ends in .yaml or .yml), then stages or cells whose change of code changes no result; with --previous
    /// one stage or cell, with --files one cell or output
    #[arg(value_name = "FILE|STAGE")]
    pub stages: Vec<String>,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// Accept only where the probe has the same output with the current code; of all stages, if none is named
    #[arg(long)]
    pub probed: bool,
    /// The reason, for readers of accepted.lock
    #[arg(short, long, value_name = "TEXT", conflicts_with_all = ["undo", "list"])]
    pub message: Option<String>,
    /// Undo the acceptance of these stages' code (not of --files or --previous)
    #[arg(long, conflicts_with_all = ["probed", "list"])]
    pub undo: bool,
    /// List accepted changes of code
    #[arg(long, conflicts_with = "probed")]
    pub list: bool,
    /// Record these files or folders as the result: one for the only output, or for each of several one as OUTPUT=FILE
    #[arg(long, value_name = "[OUTPUT=]FILE", num_args = 1.., group = "by_hand", conflicts_with_all = ["probed", "message", "undo", "list"])]
    pub files: Vec<String>,
    /// Keep the results of the lock file although the command's text or script changed
    #[arg(long, group = "by_hand", conflicts_with_all = ["probed", "message", "undo", "list"])]
    pub previous: bool,
    /// With --files or --previous: replace a recorded result; the old one stays in the store
    #[arg(long, requires = "by_hand")]
    pub replace: bool,
}

/// Arguments of `exec`.
#[derive(Debug, Args)]
pub struct ExecArguments {
    /// The key of the action
    pub key: Key,
    /// The options of the attempt, as JSON
    #[arg(long, value_name = "JSON", value_parser = |text: &str| serde_json::from_str::<AttemptOptions>(text))]
    pub options: Option<AttemptOptions>,
    /// The batch of which it is a task: it has the options of the attempt, and receives its messages
    #[arg(long, value_name = "BATCH", requires = "task")]
    pub batch: Option<String>,
    /// The index of the task in the batch
    #[arg(long, value_name = "N", requires = "batch")]
    pub task: Option<u32>,
}
