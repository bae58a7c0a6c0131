//! The arguments of `devices`.

use clap::Args;

/// Arguments of `devices`.
#[derive(Debug, Args)]
pub struct DevicesArguments {
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
