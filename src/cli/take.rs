//! The arguments of `take`.

use clap::Args;

use super::PipelineArguments;

/// Arguments of `take`.
#[derive(Debug, Args)]
pub struct TakeArguments {
    /// The stage, or one cell: 'model[size=d32/l1]'; with `.port` if one output is given
    #[arg(value_name = "STAGE[.PORT]")]
    pub stage: String,
    /// A file or folder for its only output, or for each of several one as PORT=FILE; they are copied
    #[arg(value_name = "[PORT=]FILE", required_unless_present = "before")]
    pub files: Vec<String>,
    /// Its result of before, which the lock file names: where the text of a command, or a script, changed and its result would not
    #[arg(long, conflicts_with = "files")]
    pub before: bool,
    /// Have the lock file name this result in place of the one that is recorded; that one stays
    #[arg(long)]
    pub replace: bool,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
