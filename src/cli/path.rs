//! The arguments of `path`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::PipelineArguments;
use super::completers::outputs;

/// Arguments of `path`.
#[derive(Debug, Args)]
pub struct PathArguments {
    /// A stage, with `.port` for one of several outputs: tokens.train
    #[arg(value_name = "STAGE[.PORT]", add = ArgValueCompleter::new(outputs))]
    pub source: String,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
