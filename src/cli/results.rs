//! Arguments of the commands for results: showing, exporting, naming and replacing them.

use std::path::PathBuf;

use clap::Args;

use super::completers::{complete, outputs, outputs_and_tags, stages, stages_and_tags, tag_names};
use super::{ModelHintArguments, PipelineArguments};

/// Arguments of `show`.
#[derive(Debug, Args)]
pub struct ShowArguments {
    /// A stage, a cell, an output such as tokens.train; tag:NAME, all that the tag names; or (the beginning of) a key or
    /// digest
    #[arg(value_name = "STAGE[.PORT]|tag:NAME|HASH", add = complete(outputs_and_tags))]
    pub what: String,
    /// The number of games to show of games and datasets
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub games: usize,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

/// Arguments of `path`.
#[derive(Debug, Args)]
pub struct PathArguments {
    /// A stage, with `.port` for one of several outputs: tokens.train
    #[arg(value_name = "STAGE[.PORT]", add = complete(outputs))]
    pub source: String,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

/// Arguments of `ls`.
#[derive(Debug, Args)]
pub struct LsArguments {
    /// Only these stages or cells: model, 'model[size=d32/l1]'; tag:NAME lists what that tag names
    #[arg(value_name = "STAGE|tag:NAME", add = complete(stages_and_tags))]
    pub what: Vec<String>,
    /// All results that the store has, also those that the pipeline's lock file does not name
    #[arg(long)]
    pub all: bool,
    /// The pipeline beside whose file the store is [default: pipeline.yaml here or in a folder above]
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// Arguments of `log`. Its `-f` is that of `tail`, so that the pipeline is named by `--file` alone.
#[derive(Debug, Args)]
#[command(mut_arg("file", |arg| arg.short(None)))]
pub struct LogArguments {
    /// The stage, or one cell: 'model[size=d32/l1]'; without one, all logs that there are are listed
    #[arg(value_name = "STAGE", add = complete(stages))]
    pub stage: Option<String>,
    /// Go on while the stage runs, in whatever process, and show its curves too
    #[arg(short = 'f', long)]
    pub follow: bool,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// A stage, with `.port` for one of several outputs; each cell of a matrix gets a folder below DIR
    #[arg(value_name = "STAGE[.PORT]", add = complete(outputs))]
    pub source: String,
    /// The destination, created if absent; or `-`: a dataset goes to standard output as an Arrow IPC stream
    #[arg(value_name = "DIR|-")]
    pub destination: PathBuf,
    /// With the 75 labels of every position (of a dataset)
    #[arg(long)]
    pub labels: bool,
    /// At most so many games, from the first (of a dataset)
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// Include in a report who made its results and on which hosts; left out otherwise, as reports are published
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

/// Arguments of `tag`.
#[derive(Debug, Args)]
pub struct TagArguments {
    /// The name: letters, digits, `.`, `_`, `-`; without one, all tags are listed
    #[arg(value_name = "NAME", add = complete(tag_names))]
    pub name: Option<String>,
    /// The results: stages or cells as the lock file has them now, or (the beginning of) keys or digests [default: all
    /// that the lock file names]
    #[arg(value_name = "STAGE|HASH", add = complete(stages))]
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
}

/// Arguments of `take`.
#[derive(Debug, Args)]
pub struct TakeArguments {
    /// The stage, one cell ('model[size=d32/l1]'), or its output
    #[arg(value_name = "STAGE[.PORT]")]
    pub stage: String,
    /// A file or folder for its only output, or for each of several one as PORT=FILE; they are copied
    #[arg(value_name = "[PORT=]FILE", required_unless_present = "before")]
    pub files: Vec<String>,
    /// Its previous result, which the lock file names: where the text of a command, or a script, changed and its result would not
    #[arg(long, conflicts_with = "files")]
    pub before: bool,
    /// Have the lock file name this result in place of the one that is recorded; that one stays
    #[arg(long)]
    pub replace: bool,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// A file of torch.save (.pt, .pth) or of safetensors
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The folder of the new checkpoint
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Facts about the model
    #[command(flatten)]
    pub hints: ModelHintArguments,
}

/// Arguments of `pin`.
#[derive(Debug, Args)]
pub struct PinArguments {
    /// Only these stages
    #[arg(value_name = "STAGE", add = complete(stages))]
    pub stages: Vec<String>,
    /// Forget their pins, fetch anew, and pin what comes
    #[arg(long)]
    pub update: bool,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}
