//! Arguments of the commands for remotes.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::PipelineArguments;
use super::completers::files_and_stages;

/// Arguments of `remote`.
#[derive(Debug, Args)]
pub struct RemoteArguments {
    /// The command
    #[command(subcommand)]
    pub command: RemoteCommand,
    /// The pipeline next to cwm.toml [default: pipeline.yaml here or in a folder above]
    #[arg(short = 'f', long = "file", value_name = "FILE", global = true)]
    pub file: Option<PathBuf>,
}

/// The commands for remotes.
#[derive(Debug, Subcommand)]
pub enum RemoteCommand {
    /// Add a remote to cwm.toml
    Add(AddRemoteArguments),
    /// List the remotes
    List,
    /// Remove a remote, not its data
    Remove {
        /// The name of the remote
        name: String,
    },
}

/// Arguments of `remote add`.
#[derive(Debug, Args)]
pub struct AddRemoteArguments {
    /// The name of the remote: a lowercase letter, then lowercase letters, digits and `_`
    pub name: String,
    /// A folder, or s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX, http://… or https://… (read only)
    pub url: String,
    /// Never write to it
    #[arg(long)]
    pub read_only: bool,
    /// The server of an s3:// remote that is not Amazon's
    #[arg(long, value_name = "URL")]
    pub endpoint: Option<String>,
    /// The region of an s3:// remote
    #[arg(long, value_name = "NAME")]
    pub region: Option<String>,
}

/// Arguments of `pull`, which `push` has, too.
#[derive(Debug, Args)]
pub struct TransferArguments {
    /// A pipeline file (if it ends in .yaml or .yml), then only these stages or cells [default: all]
    #[arg(value_name = "FILE|STAGE", add = files_and_stages())]
    pub words: Vec<String>,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// Only this remote of cwm.toml [default: all, in their order]
    #[arg(long, value_name = "NAME")]
    pub remote: Option<String>,
    /// Show all progress in plain lines
    #[arg(short = 'v', long)]
    pub verbose: bool,
}

/// Arguments of `push`.
#[derive(Debug, Args)]
#[command(mut_arg("remote", |arg| arg.help("Only this remote of cwm.toml [default: the first that can be written]")))]
pub struct PushArguments {
    /// The results and the remote
    #[command(flatten)]
    pub transfer: TransferArguments,
    /// Upload files again that the remote has, in place of damaged ones
    #[arg(long)]
    pub force: bool,
}
