//! The arguments of `accept`.

use clap::Args;

use super::PipelineArguments;

/// Arguments of `accept`.
#[derive(Debug, Args)]
pub struct AcceptArguments {
    /// A pipeline file (if it ends in .yaml or .yml), then stages or cells whose change of code changes no result
    #[arg(value_name = "FILE|STAGE")]
    pub stages: Vec<String>,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// Accept only where the probe gives the same with today's code; of all stages, if none is named
    #[arg(long)]
    pub probed: bool,
    /// Why, for who reads accepted.lock
    #[arg(short, long, value_name = "TEXT", conflicts_with_all = ["undo", "list"])]
    pub message: Option<String>,
    /// Take back what was accepted of these stages' code
    #[arg(long, conflicts_with_all = ["probed", "list"])]
    pub undo: bool,
    /// List what was accepted
    #[arg(long, conflicts_with = "probed")]
    pub list: bool,
    /// As JSON: {"changes": [{"name", "alias", "cells"}], "refused": {cell: why}}
    #[arg(long)]
    pub json: bool,
}
