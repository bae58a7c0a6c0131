//! The arguments of `exec`.

use clap::Args;

/// Arguments of `exec`.
#[derive(Debug, Args)]
pub struct ExecArguments {
    /// The key of the action
    pub key: String,
}
