//! The arguments of `man`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `man`.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// Where to, made if absent: a page for cwm and one for each command
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
