//! The command line: what can be typed. Each command's work is in a file of its own under `commands/`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::error::Error;

/// Run the Chess-World-Model benchmark, or any pipeline, as a cached graph of stages.
#[derive(Debug, Parser)]
#[command(name = "cwm", version, about, long_about = None, arg_required_else_help = true)]
pub struct Cli {
    /// Where results are kept [default: artifacts/ beside the pipeline]
    #[arg(long, global = true, env = "CWM_STORE", value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Do what is not done yet: the whole pipeline, or the named stages and what they need
    Run(RunArguments),
    /// Show, stage by stage, what is cached and what would run
    Status(StatusArguments),
    /// Say why a stage would run, or where its result comes from
    Why(WhyArguments),
    /// Say how two runs differ: by their lock files, here or in git, and by their reports; exit code 7 if they do
    Diff(DiffArguments),
    /// Draw the graph of stages
    Dag(DagArguments),
    /// Print the log of a stage's last run; with -f, log and curves as they are written
    Log(LogArguments),
    /// Write the curves of trainings for TensorBoard, and as JSON lines
    Tensorboard(TensorboardArguments),
    /// Describe a stage's result and what is in it, or what a digest or key stands for
    Show(ShowArguments),
    /// Print where a stage's output lies in the store (read-only)
    Path(PathArguments),
    /// Copy a stage's output to a folder; or a dataset with its labels, or as a stream
    Export(ExportArguments),
    /// Ask the tables that stages wrote (Parquet, Arrow, JSON lines) a query in SQL (docs/sql.md)
    Sql(SqlArguments),
    /// List what downloads are pinned to (sources.lock), or fetch anew and pin what comes
    Pin(PinArguments),
    /// Rehash everything in the store; set damaged files aside
    Verify(VerifyArguments),
    /// Hold our models against fixtures of the authors' code: a line a file; exit code 6 if one differs too much
    Parity(ParityArguments),
    /// Take over a model of another program: a PyTorch checkpoint or safetensors, as a checkpoint of ours
    Import(ImportArguments),
    /// Follow a game with a model: the board that it believes in beside the true one, ply by ply
    Track(TrackArguments),
    /// List what models can be computed on here, and what keeps GPUs from being used
    Devices(DevicesArguments),
    /// Do one action that an executor has prepared (used by cwm itself)
    #[command(hide = true)]
    Exec(ExecArguments),
}

/// Which pipeline.
#[derive(Debug, Args)]
pub struct PipelineArguments {
    /// The pipeline [default: pipeline.yaml here or in a folder above]
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Give a variable of the pipeline another value (may be repeated)
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    pub sets: Vec<(String, String)>,
}

impl PipelineArguments {
    /// Takes the pipeline from the first of the words, if it is one: what ends in .yaml or .yml.
    ///
    /// # Errors
    /// Another one is named by `--file`.
    pub fn take_from(&mut self, words: &mut Vec<String>) -> Result<(), Error> {
        let is_file = |word: &String| [".yaml", ".yml"].iter().any(|extension| word.ends_with(extension));
        if let Some(first) = words.first().filter(|first| is_file(first)) {
            if self.file.is_some() {
                return Err(Error::usage(format!("two pipelines are named: `{first}` and the one of `--file`")));
            }
            self.file = Some(PathBuf::from(words.remove(0)));
        }
        Ok(())
    }
}

fn assignment(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .map(|(name, value)| (name.trim().to_owned(), value.to_owned()))
        .ok_or_else(|| format!("`{text}` is not of the form NAME=VALUE"))
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// A pipeline file (if it ends in .yaml or .yml), then stages, such as model or 'model[size=d32/l1]'
    #[arg(value_name = "FILE|STAGE")]
    pub words: Vec<String>,
    /// Which pipeline, and with which variables
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// Say what would run, and why; run nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Run these stages even if they are cached (may be repeated)
    #[arg(long, value_name = "STAGE")]
    pub force: Vec<String>,
    /// Write the curves of trainings into this folder while they run, for TensorBoard
    #[arg(long, value_name = "DIR")]
    pub tensorboard: Option<PathBuf>,
    /// Cores to use [default: all]
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Where train and evaluate compute, in place of what the pipeline says: auto, cpu, cuda:0, cuda:1, …
    #[arg(long, env = "CWM_DEVICE", value_name = "NAME")]
    pub device: Option<cwm_contract::DeviceChoice>,
    /// How to show what happens
    #[arg(long, value_enum, default_value_t = Output::Auto)]
    pub output: Output,
    /// One JSON object a line on standard output; the same as --output json
    #[arg(long)]
    pub json: bool,
}

/// How a run shows what happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// Live on a terminal, plain lines elsewhere
    Auto,
    /// Live bars
    Live,
    /// One line an event
    Plain,
    /// One JSON object a line, on standard output
    Json,
}

/// Arguments of `status`.
#[derive(Debug, Args)]
pub struct StatusArguments {
    /// A pipeline file (if it ends in .yaml or .yml), then only these stages
    #[arg(value_name = "FILE|STAGE")]
    pub stages: Vec<String>,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `why`.
#[derive(Debug, Args)]
pub struct WhyArguments {
    /// A pipeline file (if it ends in .yaml or .yml), then stages, or one cell: 'model[size=d32/l1]'
    #[arg(value_name = "FILE|STAGE", required = true)]
    pub stages: Vec<String>,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `diff`.
#[derive(Debug, Args)]
pub struct DiffArguments {
    /// The first: a report's folder; a lock file; `.`, the lock file of the pipeline; a revision in git, of that lock file
    /// or as REV:path of another; or (the beginning of) a digest of a report in the store
    #[arg(value_name = "A")]
    pub old: String,
    /// The second
    #[arg(value_name = "B", default_value = ".")]
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

/// Arguments of `log`. Its `-f` is that of `tail`, so that the pipeline is named by `--file` alone.
#[derive(Debug, Args)]
pub struct LogArguments {
    /// The stage, or one cell: 'model[size=d32/l1]'; without one, all logs that there are are listed
    #[arg(value_name = "STAGE")]
    pub stage: Option<String>,
    /// Go on while the stage runs, in whatever process, and show its curves too
    #[arg(short = 'f', long)]
    pub follow: bool,
    /// The pipeline [default: pipeline.yaml here or in a folder above]
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Give a variable of the pipeline another value (may be repeated)
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    pub sets: Vec<(String, String)>,
}

impl LogArguments {
    /// Which pipeline.
    pub fn pipeline(&self) -> PipelineArguments {
        PipelineArguments { file: self.file.clone(), sets: self.sets.clone() }
    }
}

/// Arguments of `tensorboard`.
#[derive(Debug, Args)]
pub struct TensorboardArguments {
    /// Where to: a folder for each training, with event files and metrics.jsonl
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Only these stages
    #[arg(value_name = "STAGE")]
    pub stages: Vec<String>,
    /// Go on until interrupted, with whatever is trained meanwhile
    #[arg(long)]
    pub follow: bool,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

/// Arguments of `dag`.
#[derive(Debug, Args)]
pub struct DagArguments {
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// In which notation
    #[arg(long, value_enum, default_value_t = DagFormat::Text)]
    pub format: DagFormat,
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

/// Arguments of `show`.
#[derive(Debug, Args)]
pub struct ShowArguments {
    /// A stage, a cell, an output such as tokens.train, or (the beginning of) a key or digest
    #[arg(value_name = "STAGE[.PORT]|HASH")]
    pub what: String,
    /// How many games to show of games and datasets
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub games: usize,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `path`.
#[derive(Debug, Args)]
pub struct PathArguments {
    /// A stage, with `.port` for one of several outputs: tokens.train
    #[arg(value_name = "STAGE[.PORT]")]
    pub source: String,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// A stage, with `.port` for one of several outputs
    #[arg(value_name = "STAGE[.PORT]")]
    pub source: String,
    /// Where to, made if absent; or `-`: a dataset goes to standard output as an Arrow IPC stream
    #[arg(value_name = "DIR|-")]
    pub destination: PathBuf,
    /// With the 75 labels of every position (of a dataset)
    #[arg(long)]
    pub labels: bool,
    /// At most so many games, from the first (of a dataset)
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// Tell in a report who made its results and on which hosts; left out otherwise, as reports are published
    #[arg(long)]
    pub names: bool,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

impl ExportArguments {
    /// Whether it goes to standard output.
    pub fn is_stream(&self) -> bool {
        self.destination.as_os_str() == "-"
    }
}

/// Arguments of `sql`.
#[derive(Debug, Args)]
pub struct SqlArguments {
    /// Stages, cells or outputs, such as bins or 'evaluation[test=held_out].scores'; last, the query
    #[arg(value_name = "STAGE[.PORT]... QUERY", required = true)]
    pub words: Vec<String>,
    /// List the tables and their columns; there is no query then
    #[arg(long)]
    pub tables: bool,
    /// One JSON object a row and line
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Comma-separated values
    #[arg(long, conflicts_with = "tables")]
    pub csv: bool,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

impl SqlArguments {
    /// What is asked, and the query unless only the tables are listed.
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

/// Arguments of `pin`.
#[derive(Debug, Args)]
pub struct PinArguments {
    /// Only these stages
    #[arg(value_name = "STAGE")]
    pub stages: Vec<String>,
    /// Forget their pins, fetch anew, and pin what comes
    #[arg(long)]
    pub update: bool,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Which pipeline's store
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `devices`.
#[derive(Debug, Args)]
pub struct DevicesArguments {
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `parity`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct ParityArguments {
    /// Fixtures (.safetensors), lr-schedules.json, metrics.json, param-counts.json, or folders of them
    #[arg(value_name = "FILE|DIR", required = true)]
    pub files: Vec<PathBuf>,
    /// The family of the fixtures [default: what their manifest.json, names and shapes tell]
    #[arg(long, value_name = "NAME")]
    pub family: Option<String>,
    /// An option of the family, such as heads=2 or rope=standard (may be repeated)
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = assignment)]
    pub options: Vec<(String, String)>,
    /// Where to compute
    #[arg(long, value_name = "NAME", default_value = "cpu")]
    pub device: String,
    /// One JSON object a line and file, with every quantity
    #[arg(long)]
    pub json: bool,
}

/// What is known of a model in a file of another program.
#[derive(Debug, Args)]
pub struct HintArguments {
    /// The family of a model from a file, where its names and shapes leave it open
    #[arg(long, value_name = "NAME")]
    pub family: Option<String>,
    /// Its size, such as d128/l1, to be sure of it
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// An option of its family, such as heads=2 or rope=standard (may be repeated)
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = assignment)]
    pub options: Vec<(String, String)>,
    /// Where in the file its parameters are, such as model_state_dict, if several models are in it
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// Round float64 parameters that are no float32, which are refused otherwise
    #[arg(long)]
    pub round: bool,
}

impl HintArguments {
    /// The same, for whoever reads the file.
    pub fn hints(&self) -> cwm_contract::ModelHints {
        cwm_contract::ModelHints {
            family: self.family.clone(),
            size: self.size.clone(),
            options: self.options.iter().cloned().collect(),
            key: self.key.clone(),
            round: self.round,
        }
    }
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// A file of torch.save (.pt, .pth) or of safetensors
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The checkpoint that is made of it
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// What is known of the model
    #[command(flatten)]
    pub hints: HintArguments,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `track`.
#[derive(Debug, Args)]
pub struct TrackArguments {
    /// A stage that made a checkpoint, such as 'model[size=d128/l1]'; or a checkpoint's folder; or a file that `cwm import`
    /// takes
    #[arg(value_name = "STAGE|DIR|FILE")]
    pub checkpoint: String,
    /// The moves, as e4, g1f3 or O-O [default: from --input, or standard input]
    #[arg(value_name = "MOVE")]
    pub moves: Vec<String>,
    /// Read them from this file, as moves or as PGN; `-` is standard input
    #[arg(short = 'i', long, value_name = "FILE", conflicts_with = "moves")]
    pub input: Option<PathBuf>,
    /// Which game of the PGN
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub game: u64,
    /// Only how it went: positions and labels that were right, and the first error
    #[arg(long)]
    pub summary: bool,
    /// One JSON object a line and position
    #[arg(long)]
    pub json: bool,
    /// What is known of a model from a file
    #[command(flatten)]
    pub hints: HintArguments,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

/// Arguments of `exec`.
#[derive(Debug, Args)]
pub struct ExecArguments {
    /// The key of the action
    pub key: String,
}
