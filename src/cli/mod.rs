//! The command line: its arguments, one file a subject. Each command is the file of its name under `commands/`.

mod analysis;
mod completers;
mod model;
mod pipeline;
mod results;
mod runs;
mod sharing;
mod store;
mod usage_error;
mod util;

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser, Subcommand};

pub use analysis::*;
pub use completers::COMPLETION_VARIABLE;
pub use model::*;
pub use pipeline::PipelineArguments;
pub use results::*;
pub use runs::*;
pub use sharing::*;
pub use store::*;
pub use util::*;

/// Run cached, reproducible pipelines.
#[derive(Debug, Parser)]
#[command(name = "cwm", version, about, long_about = None, arg_required_else_help = true)]
#[command(after_long_help = cwm_core::ExitCode::help())]
pub struct Cli {
    /// The store of results [env: CWM_STORE] [default: artifacts/ beside the pipeline]
    #[arg(
        long,
        global = true,
        env = "CWM_STORE",
        hide_env = true,
        value_name = "DIR",
        help_heading = "Options of all commands"
    )]
    pub store: Option<PathBuf>,
    /// Print JSON: one value, or one object per line (docs/json.md)
    #[arg(long, global = true, help_heading = "Options of all commands")]
    pub json: bool,
    /// The command
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// Parses the command line of this process. Ends the program if it is wrong.
    pub fn read() -> Self {
        Cli::try_parse().unwrap_or_else(|error| {
            // A usage line repeats what was typed, and no option that the environment sets.
            let without_variables = |command: clap::Command| command.mut_args(|arg| arg.env(None::<&str>));
            let command = without_variables(Cli::command()).mut_subcommands(without_variables);
            let arguments_error = command.try_get_matches().err().filter(clap::Error::use_stderr);
            let is_from_environment = arguments_error.is_none();
            let mut error = arguments_error.unwrap_or(error);
            if let Some(ContextValue::Strings(mut names)) = error.remove(ContextKind::ValidSubcommand) {
                names.retain(|name| name != "exec");
                error.insert(ContextKind::ValidSubcommand, ContextValue::Strings(names));
            }
            usage_error::exit(&error, is_from_environment)
        })
    }
}

/// The commands. The first line of each is its help in six words or so; `cwm COMMAND --help` prints the rest, too.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create a small pipeline that runs
    ///
    /// It runs at once, without network or GPU. No file is overwritten.
    Init(InitArguments),
    /// Run what is not cached
    ///
    /// Runs the whole pipeline, or the named stages and their dependencies. Results that the store has are not computed again.
    Run(RunArguments),
    /// Show which stages would run
    ///
    /// Lists, stage by stage, what is cached and what would run; with --graph, draws the pipeline.
    Status(StatusArguments),
    /// Explain why a stage would run
    ///
    /// Names the parameter, input or code that changed, or the origin of a cached result.
    Why(WhyArguments),
    /// Compare two runs and their reports
    ///
    /// Compares lock files, here or in git, cell by cell, and reports number by number. Exit code 7 if they differ.
    Diff(DiffArguments),
    /// List runs, values and metrics
    ///
    /// Lists the last run and the runs with --set: values of variables, cells and metrics.
    Runs(RunsArguments),
    /// Print the log of a stage
    ///
    /// Prints the log of the last run; with -f, log and curves while the stage runs; with --tensorboard, writes the curves.
    Log(LogArguments),
    /// Describe a result and its content
    ///
    /// Prints key, parameters, outputs, cost and content of a result; with --path, only the path of an output.
    Show(ShowArguments),
    /// Copy outputs out of the store
    ///
    /// Copies a stage's outputs to a folder; a dataset also with its labels, or as a stream.
    Export(ExportArguments),
    /// Query outputs as tables in SQL
    ///
    /// Reads the tables that stages wrote: Parquet, Arrow, JSON lines (docs/sql.md).
    Sql(SqlArguments),
    /// Keep or record results without running
    ///
    /// Declares that a change of a stage's code changes no result, so that results of the older code remain valid
    /// (accepted.lock); with --files or --previous, records files, or the previous result, as a stage's result.
    Accept(AcceptArguments),
    /// List or update pinned downloads
    ///
    /// Lists the checksums to which downloads are pinned (sources.lock); with --update, fetches again and pins the new content.
    Lock(LockArguments),
    /// Upload results to a remote
    ///
    /// Uploads what the remote does not have: first files, then the records that name them.
    Push(PushArguments),
    /// Fetch results from remotes
    ///
    /// Verifies each file by its hash. Lists at the end what no remote has.
    Pull(TransferArguments),
    /// List, add and remove remotes
    ///
    /// A remote is a folder, a bucket or a web server that shares results, named in cwm.toml.
    Remote(RemoteArguments),
    /// Inspect, verify and clean the store
    #[command(subcommand)]
    Store(StoreCommand),
    /// Import, test and track models
    #[command(subcommand)]
    Model(ModelCommand),
    /// Play chess with a model (UCI)
    ///
    /// Runs a UCI chess engine on standard input and output: add `cwm uci MODEL` as an engine to any program that uses UCI.
    Uci(UciArguments),
    /// Give the rewards of answers
    ///
    /// For programs that train models. Each line of standard input is an object with the texts `task_id` and `text`. Prints for
    /// each, on standard output, `reward`, `verdict` and `score`, or `error`, by the rules of the stage `grade`.
    Reward(RewardArguments),
    /// Print schema, completions, manual pages
    #[command(subcommand)]
    Util(UtilCommand),
    /// Do one action that an executor has prepared (used by cwm itself)
    #[command(hide = true)]
    Exec(ExecArguments),
}
