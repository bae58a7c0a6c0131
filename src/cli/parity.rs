//! The arguments of `parity`.

use std::path::PathBuf;

use clap::Args;

use super::pipeline::assignment;

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
