//! The arguments of `export`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::PipelineArguments;
use super::completers::outputs;

/// Arguments of `export`.
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// A stage, with `.port` for one of several outputs
    #[arg(value_name = "STAGE[.PORT]", add = ArgValueCompleter::new(outputs))]
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
    /// Say where it went as JSON
    #[arg(long)]
    pub json: bool,
}

impl ExportArguments {
    /// Whether it goes to standard output.
    pub fn is_stream(&self) -> bool {
        self.destination.as_os_str() == "-"
    }
}
