//! The arguments of `dag`.

use clap::{Args, ValueEnum};

use super::PipelineArguments;

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
    /// As JSON
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
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
