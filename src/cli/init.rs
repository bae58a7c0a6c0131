//! The arguments of `init`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `init`.
#[derive(Debug, Args)]
pub struct InitArguments {
    /// Where to, made if absent
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// A pipeline of shell commands alone, of any subject
    #[arg(long)]
    pub command: bool,
    /// What was written, as JSON
    #[arg(long)]
    pub json: bool,
}
