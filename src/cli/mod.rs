//! The command line: its arguments, one file a subject. Each command is the file of its name under `commands/`.

mod analysis;
mod completers;
mod model_hints;
mod pipeline;
mod program;
mod results;
mod runs;
mod sharing;
mod storage;
mod usage_error;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub use analysis::*;
pub use completers::COMPLETION_VARIABLE;
pub use model_hints::ModelHintArguments;
pub use pipeline::PipelineArguments;
pub use program::*;
pub use results::*;
pub use runs::*;
pub use sharing::*;
pub use storage::*;

/// Run the Chess-World-Model benchmark, or any pipeline, as a cached graph of stages.
#[derive(Debug, Parser)]
#[command(name = "cwm", version, about, long_about = None, arg_required_else_help = true)]
#[command(after_long_help = cwm_core::ExitCode::help())]
pub struct Cli {
    /// The store of results [default: artifacts/ beside the pipeline]
    #[arg(long, global = true, env = "CWM_STORE", value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Print JSON: one value, or one object a line (docs/json.md)
    #[arg(long, global = true)]
    pub json: bool,
    /// The command
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// Parses the command line of this process. Ends the program if it is wrong.
    pub fn read() -> Self {
        Cli::try_parse().unwrap_or_else(|error| usage_error::exit(&error))
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a small pipeline to begin with, which runs at once; nothing is overwritten
    Init(InitArguments),
    /// Do what is not done yet: the whole pipeline, or the named stages and what they need
    Run(RunArguments),
    /// Run, and run again whenever the pipeline or a file that it reads changes; Ctrl-C ends it
    Watch(BuildArguments),
    /// Show, stage by stage, what is cached and what would run
    Status(StatusArguments),
    /// Explain why a stage would run, or where its result comes from
    Why(WhyArguments),
    /// Accept that a change of a stage's code changes no result: those of the older code stay (accepted.lock)
    Accept(AcceptArguments),
    /// Compare two runs: by their lock files, here or in git, and by their reports; exit code 7 if they differ
    Diff(DiffArguments),
    /// List the runs that are remembered, with and without `--set`, and the numbers that came out
    Runs(RunsArguments),
    /// Draw the graph of stages
    Dag(DagArguments),
    /// Print the log of a stage's last run; with -f, log and curves as they are written
    Log(LogArguments),
    /// Write the curves of trainings for TensorBoard, and as JSON lines
    Tensorboard(TensorboardArguments),
    /// Describe a stage's result and its content, or the result of a digest or key
    Show(ShowArguments),
    /// Print the path of a stage's output in the store (read-only)
    Path(PathArguments),
    /// Copy a stage's output to a folder; or a dataset with its labels, or as a stream
    Export(ExportArguments),
    /// Query the tables that stages wrote (Parquet, Arrow, JSON lines) in SQL (docs/sql.md)
    Sql(SqlArguments),
    /// List what downloads are pinned to (sources.lock), or fetch anew and pin what comes
    Pin(PinArguments),
    /// List or change the remotes that share results: a folder, S3, Google, Azure, a web server (cwm.toml)
    Remote(RemoteArguments),
    /// Send results to a remote: files first, then what names them; what is there is not sent again
    Push(PushArguments),
    /// Fetch results from remotes, each file verified by its hash; what is missing is listed at the end
    Pull(TransferArguments),
    /// Rehash everything in the store; set damaged files aside
    Verify(VerifyArguments),
    /// List the results that the store has: what the lock file names, or with --all every one
    Ls(LsArguments),
    /// Give results a name, under which they stay; without one, list the names
    Tag(TagArguments),
    /// Print the size of each stage in the store
    Du(DuArguments),
    /// List what nothing in the store names any more, by stage; with --delete, delete it
    Gc(GcArguments),
    /// Compare our models with fixtures of the authors' code: a line a file; exit code 6 if one differs too much
    Parity(ParityArguments),
    /// Convert a model of another program, a PyTorch checkpoint or safetensors, to a checkpoint
    Import(ImportArguments),
    /// Record files as a stage's result, in place of computing it
    Take(TakeArguments),
    /// Follow a game with a model: the board that it believes in beside the true one, ply by ply
    Track(TrackArguments),
    /// List the devices for models here, and the reasons why GPUs cannot be used
    Devices,
    /// Print the JSON Schema of pipeline files, for editors; --markdown: a page of all stages and parameters, for people
    Schema(SchemaArguments),
    /// Print the script by which a shell completes words of cwm, with the stages and cells of the pipeline
    Completions(CompletionsArguments),
    /// Write manual pages into a folder
    Man(ManArguments),
    /// Do one action that an executor has prepared (used by cwm itself)
    #[command(hide = true)]
    Exec(ExecArguments),
}
