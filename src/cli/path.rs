//! The arguments of `path`.

use clap::Args;

use super::PipelineArguments;

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
